#include "json.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace kernelfleet::runner {
namespace {

constexpr int kMaxDepth = 64;

void AppendUtf8(uint32_t code, std::string* out) {
  if (code < 0x80) {
    out->push_back(static_cast<char>(code));
    return;
  }
  if (code < 0x800) {
    out->push_back(static_cast<char>(0xC0 | (code >> 6)));
  } else {
    if (code < 0x10000) {
      out->push_back(static_cast<char>(0xE0 | (code >> 12)));
    } else {
      out->push_back(static_cast<char>(0xF0 | (code >> 18)));
      out->push_back(static_cast<char>(0x80 | ((code >> 12) & 0x3F)));
    }
    out->push_back(static_cast<char>(0x80 | ((code >> 6) & 0x3F)));
  }
  out->push_back(static_cast<char>(0x80 | (code & 0x3F)));
}

// Length of the well-formed UTF-8 sequence at `at`, or 0.
size_t Utf8Length(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u;
  };
  const auto tail = [&](size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead < 0xE0) return tail(1) ? 2 : 0;
  if (lead >= 0xE0 && lead < 0xF0) {
    if (lead == 0xE0 && byte(1) < 0xA0) return 0;
    if (lead == 0xED && byte(1) >= 0xA0) return 0;
    return tail(1) && tail(2) ? 3 : 0;
  }
  if (lead >= 0xF0 && lead < 0xF5) {
    if (lead == 0xF0 && byte(1) < 0x90) return 0;
    if (lead == 0xF4 && byte(1) >= 0x90) return 0;
    return tail(1) && tail(2) && tail(3) ? 4 : 0;
  }
  return 0;
}

// A JSON string literal; bytes that are no UTF-8 become U+FFFD.
std::string Quote(std::string_view text) {
  std::string out = "\"";
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    const size_t length = Utf8Length(text, i);
    if (length == 0) {
      out += "\xEF\xBF\xBD";
      ++i;
    } else if (c == '"' || c == '\\') {
      out += {'\\', c};
      ++i;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
      out += escape;
      ++i;
    } else {
      out.append(text.substr(i, length));
      i += length;
    }
  }
  return out + '"';
}

}  // namespace

class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : text_(text) {}

  bool Document(Json* out) {
    if (!Value(0, out)) return false;
    Space();
    return at_ == text_.size();
  }

 private:
  void Space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) !=
                                     std::string_view::npos) {
      ++at_;
    }
  }

  bool Take(std::string_view token) {
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }

  bool Value(int depth, Json* out) {
    if (depth > kMaxDepth) return false;
    Space();
    if (at_ >= text_.size()) return false;
    switch (text_[at_]) {
      case '{':
        return Object(depth, out);
      case '[':
        return Array(depth, out);
      case '"':
        out->kind_ = Json::Kind::kString;
        return String(&out->text_);
      case 't':
        out->bool_ = true;
        out->kind_ = Json::Kind::kBool;
        return Take("true");
      case 'f':
        out->kind_ = Json::Kind::kBool;
        return Take("false");
      case 'n':
        return Take("null");
      default:
        return Number(out);
    }
  }

  bool Object(int depth, Json* out) {
    out->kind_ = Json::Kind::kObject;
    ++at_;
    Space();
    if (Take("}")) return true;
    do {
      Space();
      auto& member = out->members_.emplace_back();
      if (!String(&member.first)) return false;
      Space();
      if (!Take(":") || !Value(depth + 1, &member.second)) return false;
      Space();
    } while (Take(","));
    return Take("}");
  }

  bool Array(int depth, Json* out) {
    out->kind_ = Json::Kind::kArray;
    ++at_;
    Space();
    if (Take("]")) return true;
    do {
      if (!Value(depth + 1, &out->items_.emplace_back())) return false;
      Space();
    } while (Take(","));
    return Take("]");
  }

  bool Hex4(uint32_t* code) {
    if (at_ + 4 > text_.size()) return false;
    *code = 0;
    for (int i = 0; i < 4; ++i) {
      const char c = text_[at_++];
      uint32_t digit = 0;
      if (c >= '0' && c <= '9') {
        digit = static_cast<uint32_t>(c - '0');
      } else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f') {
        digit = static_cast<uint32_t>((c | 0x20) - 'a' + 10);
      } else {
        return false;
      }
      *code = *code * 16 + digit;
    }
    return true;
  }

  bool Escape(std::string* out) {
    constexpr std::string_view kShort = "\"\\/bfnrt";
    constexpr std::string_view kMeaning = "\"\\/\b\f\n\r\t";
    if (at_ >= text_.size()) return false;
    const char c = text_[at_++];
    if (const size_t i = kShort.find(c); i != std::string_view::npos) {
      out->push_back(kMeaning[i]);
      return true;
    }
    uint32_t code = 0;
    if (c != 'u' || !Hex4(&code)) return false;
    if (code >= 0xD800 && code < 0xDC00) {
      uint32_t low = 0;
      if (!Take("\\u") || !Hex4(&low) || low < 0xDC00 || low > 0xDFFF) {
        return false;
      }
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    AppendUtf8(code, out);
    return true;
  }

  bool String(std::string* out) {
    if (!Take("\"")) return false;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '"') return true;
      if (static_cast<unsigned char>(c) < 0x20) return false;
      if (c != '\\') {
        out->push_back(c);
      } else if (!Escape(out)) {
        return false;
      }
    }
    return false;
  }

  bool Number(Json* out) {
    const size_t begin = at_;
    while (at_ < text_.size() &&
           std::string_view("+-.eE0123456789").find(text_[at_]) !=
               std::string_view::npos) {
      ++at_;
    }
    out->kind_ = Json::Kind::kNumber;
    out->text_ = text_.substr(begin, at_ - begin);
    char* end = nullptr;
    std::strtod(out->text_.c_str(), &end);
    return !out->text_.empty() && *end == '\0';
  }

  const std::string_view text_;
  size_t at_ = 0;
};

std::optional<Json> Json::Parse(std::string_view text) {
  Json value;
  if (!JsonReader(text).Document(&value)) return std::nullopt;
  return value;
}

const Json& Json::operator[](std::string_view name) const {
  static const Json kNull;
  const Json* found = &kNull;
  for (const auto& [key, value] : members_) {
    if (key == name) found = &value;
  }
  return *found;
}

std::string Json::AsString(std::string_view otherwise) const {
  return kind_ == Kind::kString ? text_ : std::string(otherwise);
}

double Json::AsDouble(double otherwise) const {
  if (kind_ != Kind::kNumber && kind_ != Kind::kString) return otherwise;
  char* end = nullptr;
  const double value = std::strtod(text_.c_str(), &end);
  return !text_.empty() && *end == '\0' && std::isfinite(value) ? value
                                                                : otherwise;
}

int64_t Json::AsInt64(int64_t otherwise) const {
  if (kind_ != Kind::kNumber && kind_ != Kind::kString) return otherwise;
  char* end = nullptr;
  const int64_t value = std::strtoll(text_.c_str(), &end, 10);
  return !text_.empty() && *end == '\0' ? value : otherwise;
}

void JsonObject::Name(std::string_view name) {
  if (!body_.empty()) body_ += ",";
  body_ += Quote(name) + ":";
}

JsonObject& JsonObject::Add(std::string_view name, std::string_view value) {
  Name(name);
  body_ += Quote(value);
  return *this;
}

JsonObject& JsonObject::Add(std::string_view name, int64_t value) {
  Name(name);
  body_ += std::to_string(value);
  return *this;
}

JsonObject& JsonObject::Add(std::string_view name, bool value) {
  Name(name);
  body_ += value ? "true" : "false";
  return *this;
}

JsonObject& JsonObject::Add(std::string_view name, double value) {
  Name(name);
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", value);
  body_ += text;
  return *this;
}

JsonObject& JsonObject::AddObject(std::string_view name,
                                  const JsonObject& value) {
  Name(name);
  body_ += value.text();
  return *this;
}

}  // namespace kernelfleet::runner
