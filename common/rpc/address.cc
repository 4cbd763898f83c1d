#include "common/rpc/address.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "common/base/status.h"
#include "common/base/strings.h"

namespace kernelfleet::rpc {
namespace {

bool IsIpv4(const std::string& host) {
  in_addr unused;
  return ::inet_pton(AF_INET, host.c_str(), &unused) == 1;
}

bool IsIpv6(const std::string& host) {
  in6_addr unused;
  return ::inet_pton(AF_INET6, host.c_str(), &unused) == 1;
}

bool IsHostName(std::string_view host) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
  };
  return !host.empty() && host.size() <= 253 &&
         std::all_of(host.begin(), host.end(), allowed);
}

absl::Status Bad(std::string_view text, std::string_view why) {
  return InvalidArgument(
      fmt::format("address \"{}\": {}; write HOST:PORT, for example {}",
                  Printable(Shorten(text, 100)), why, ToString(Address())));
}

}  // namespace

absl::StatusOr<Address> ParseAddress(std::string_view text) {
  if (text.find("://") != std::string_view::npos) {
    return Bad(text, "a scheme does not belong here");
  }
  std::string_view host = text;
  std::optional<std::string_view> port;
  if (text.starts_with('[')) {
    const size_t close = text.find(']');
    if (close == std::string_view::npos) return Bad(text, "no closing bracket");
    host = text.substr(1, close - 1);
    const std::string_view rest = text.substr(close + 1);
    if (!rest.empty() && rest[0] != ':') return Bad(text, "text after bracket");
    if (!rest.empty()) port = rest.substr(1);
    if (!IsIpv6(std::string(host))) return Bad(text, "not an IPv6 address");
  } else if (IsIpv6(std::string(text))) {
    host = text;
  } else if (const size_t colon = text.rfind(':');
             colon != std::string_view::npos) {
    host = text.substr(0, colon);
    port = text.substr(colon + 1);
  }
  Address address;
  address.host = std::string(host);
  if (host.empty()) return Bad(text, "no host");
  if (!IsIpv6(address.host) && !IsHostName(host)) {
    return Bad(text, "not a host name or address");
  }
  if (port) {
    const std::optional<int64_t> number = ParseInt(*port);
    if (!number || *number < 0 || *number > 65535) {
      return Bad(text, "the port is not a number from 0 to 65535");
    }
    address.port = static_cast<int>(*number);
  }
  return address;
}

std::string ToString(const Address& address) {
  return IsIpv6(address.host)
             ? fmt::format("[{}]:{}", address.host, address.port)
             : fmt::format("{}:{}", address.host, address.port);
}

bool IsLoopback(const Address& address) {
  if (IsIpv4(address.host)) return address.host.starts_with("127.");
  in6_addr v6;
  if (::inet_pton(AF_INET6, address.host.c_str(), &v6) == 1) {
    return IN6_IS_ADDR_LOOPBACK(&v6);
  }
  return address.host == "localhost";
}

std::string GrpcTarget(const Address& address) {
  const std::string text = ToString(address);
  if (IsIpv4(address.host)) return "ipv4:" + text;
  if (IsIpv6(address.host)) return "ipv6:" + text;
  return "dns:///" + text;
}

}  // namespace kernelfleet::rpc
