#pragma once
// Small text functions that several rooms need. No locale, no allocation surprises, total on any bytes.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lavant {

std::vector<std::string_view> split(std::string_view text, char separator);
std::string_view trim(std::string_view text);
std::string to_lower(std::string_view text);
bool equals_ignoring_case(std::string_view a, std::string_view b);
std::optional<std::int64_t> parse_integer(std::string_view text);  // whole text, optional '-', no overflow

std::string percent_decode(std::string_view text);  // bad escapes stay as they are
std::string percent_encode(std::string_view text);  // all but unreserved characters
std::string to_hex(std::string_view bytes);
std::string base64_encode(std::string_view bytes);
std::optional<std::string> base64_decode(std::string_view text);
std::string base64url_encode(std::string_view bytes);  // no padding
std::optional<std::string> base64url_decode(std::string_view text);
std::string json_quote(std::string_view text);  // with the quotes; invalid UTF-8 becomes U+FFFD
std::string shell_quote(std::string_view text);

// "instanceCount" -> "instance_count": what camel case joined, parted by `between`.
std::string part_words(std::string_view camel_case, char between);
// https://localhost, https://127.0.0.1 and the like, with or without a port: this very machine.
bool is_loopback_url(std::string_view url);
// How much of `text`, from its beginning, is UTF-8.
std::size_t valid_utf8_bytes(std::string_view text);
// The candidate nearest to `word` by edit distance, if near enough to be a likely slip of the pen.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace lavant
