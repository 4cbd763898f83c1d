#include "cli/flags.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/status.h"
#include "common/base/strings.h"

namespace kernelfleet::cli {
namespace {

std::string Shown(std::string_view word) {
  return Shorten(Printable(word), 80);
}

const Flag* Find(std::span<const Flag> flags, std::string_view name) {
  const auto at = std::find_if(flags.begin(), flags.end(), [&](const Flag& f) {
    return f.name == name || (!f.short_name.empty() && f.short_name == name);
  });
  return at == flags.end() ? nullptr : &*at;
}

absl::Status UnknownFlag(std::span<const Flag> flags, std::string_view name) {
  std::vector<std::string_view> names = {"--help"};
  for (const Flag& flag : flags) names.push_back(flag.name);
  const auto nearest = DidYouMean(name, names);
  return InvalidArgument(nearest
                             ? fmt::format("unknown flag {}: did you mean {}?",
                                           Shown(name), *nearest)
                             : fmt::format("unknown flag {}", Shown(name)));
}

absl::Status CheckChoice(const Flag& flag, std::string_view value) {
  if (flag.choices.empty()) return absl::OkStatus();
  const auto choices = Split(flag.choices, ' ');
  if (std::find(choices.begin(), choices.end(), value) != choices.end()) {
    return absl::OkStatus();
  }
  std::string known;
  for (const std::string_view choice : choices) {
    known += fmt::format("{}{}", known.empty() ? "" : ", ", choice);
  }
  return InvalidArgument(fmt::format("{} is '{}': expected one of {}",
                                     flag.name, Shown(value), known));
}

}  // namespace

bool Arguments::Has(std::string_view flag) const {
  return values_.find(flag) != values_.end();
}

std::string Arguments::Get(std::string_view flag,
                           std::string_view fallback) const {
  const auto at = values_.find(flag);
  return at == values_.end() ? std::string(fallback) : at->second.back();
}

const std::vector<std::string>& Arguments::All(std::string_view flag) const {
  static const std::vector<std::string> kNone;
  const auto at = values_.find(flag);
  return at == values_.end() ? kNone : at->second;
}

absl::StatusOr<Arguments> ParseArguments(std::span<const Flag> flags,
                                         std::span<const std::string> words) {
  Arguments args;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == "--") {
      args.positional_.insert(args.positional_.end(),
                              words.begin() + static_cast<ptrdiff_t>(i) + 1,
                              words.end());
      break;
    }
    if (word.size() < 2 || word[0] != '-') {
      args.positional_.emplace_back(word);
      continue;
    }
    const size_t equals = word.find('=');
    const std::string_view name = word.substr(0, equals);
    const Flag* flag = Find(flags, name);
    if (flag == nullptr) return UnknownFlag(flags, name);
    const bool attached = equals != std::string_view::npos;
    std::string value;
    if (flag->value.empty()) {
      if (attached) {
        return InvalidArgument(fmt::format("{} takes no value", flag->name));
      }
    } else if (attached) {
      value = word.substr(equals + 1);
    } else if (i + 1 < words.size()) {
      value = words[++i];
    } else {
      return InvalidArgument(
          fmt::format("{} needs a value: {}", flag->name, flag->value));
    }
    KF_RETURN_IF_ERROR(flag->value.empty() ? absl::OkStatus()
                                           : CheckChoice(*flag, value));
    std::vector<std::string>& values = args.values_[std::string(flag->name)];
    if (!values.empty() && flag->repeat == Repeat::kNo) {
      return InvalidArgument(fmt::format("{} is given twice", flag->name));
    }
    values.push_back(std::move(value));
  }
  return args;
}

absl::StatusOr<int64_t> IntFlag(const Arguments& args, std::string_view flag,
                                int64_t fallback, int64_t low, int64_t high) {
  if (!args.Has(flag)) return fallback;
  const std::string text = args.Get(flag);
  const std::optional<int64_t> value = ParseInt(text);
  if (!value || *value < low || *value > high) {
    return InvalidArgument(
        fmt::format("{} is '{}': expected a whole number from {} to {}", flag,
                    Shown(text), low, high));
  }
  return *value;
}

std::optional<std::string_view> DidYouMean(
    std::string_view word, std::span<const std::string_view> candidates) {
  if (word.size() > 64) return {};
  std::optional<std::string_view> best;
  int best_distance = 0;
  for (const std::string_view candidate : candidates) {
    const int distance = EditDistance(word, candidate);
    // Two exchanged letters count as two changes.
    const int allowed =
        std::clamp(static_cast<int>(candidate.size()) / 2, 1, 3);
    if (distance <= allowed && (!best || distance < best_distance)) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace kernelfleet::cli
