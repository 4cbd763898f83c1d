// The little JSON the runner needs before Python runs: its command lines, the
// limits in request.json, and the events and results it writes by hand.
#ifndef KERNELFLEET_AGENT_RUNNER_JSON_H_
#define KERNELFLEET_AGENT_RUNNER_JSON_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kernelfleet::runner {

// A parsed value. Members keep their order; of equal names the last counts.
class Json {
 public:
  enum class Kind { kNull, kBool, kNumber, kString, kArray, kObject };

  // The whole text as one value; nothing for anything else, including more
  // than 64 levels of nesting.
  static std::optional<Json> Parse(std::string_view text);

  Kind kind() const { return kind_; }
  // The member of that name, or a null value.
  const Json& operator[](std::string_view name) const;
  const std::vector<std::pair<std::string, Json>>& members() const {
    return members_;
  }
  // The value, or `otherwise` where it is not of that kind. Numbers may be
  // written as strings, the way proto JSON writes int64.
  std::string AsString(std::string_view otherwise = "") const;
  double AsDouble(double otherwise) const;
  int64_t AsInt64(int64_t otherwise) const;

 private:
  friend class JsonReader;
  Kind kind_ = Kind::kNull;
  bool bool_ = false;
  // The text of a string (unescaped) or of a number (as written).
  std::string text_;
  std::vector<Json> items_;
  std::vector<std::pair<std::string, Json>> members_;
};

// Writes one object on one line, in order.
//
//   JsonObject().Add("event", "started").Add("pid", 7).text()
class JsonObject {
 public:
  JsonObject& Add(std::string_view name, std::string_view value);
  JsonObject& Add(std::string_view name, const char* value) {
    return Add(name, std::string_view(value));
  }
  JsonObject& Add(std::string_view name, int64_t value);
  JsonObject& Add(std::string_view name, int value) {
    return Add(name, int64_t{value});
  }
  JsonObject& Add(std::string_view name, bool value);
  JsonObject& Add(std::string_view name, double value);
  JsonObject& AddObject(std::string_view name, const JsonObject& value);
  std::string text() const { return "{" + body_ + "}"; }

 private:
  void Name(std::string_view name);
  std::string body_;
};

}  // namespace kernelfleet::runner

#endif  // KERNELFLEET_AGENT_RUNNER_JSON_H_
