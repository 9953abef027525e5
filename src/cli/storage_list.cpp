#include "cli/storage_list.h"

#include <optional>
#include <string>
#include <utility>

#include "base/text.h"

namespace lavant::cli {
namespace {

std::string unescape(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const std::size_t amp = text.find('&');
        out += text.substr(0, amp);
        if (amp == std::string_view::npos) break;
        text.remove_prefix(amp);
        bool known = false;
        constexpr std::pair<std::string_view, char> kEntities[] = {
            {"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}, {"&#39;", '\''}};
        for (const auto& [entity, character] : kEntities) {
            if (!text.starts_with(entity)) continue;
            out += character;
            text.remove_prefix(entity.size());
            known = true;
            break;
        }
        if (known) continue;
        out += '&';
        text.remove_prefix(1);
    }
    return out;
}

// The text between <element …> and </element>, and what comes after it.
struct Found {
    std::string_view inside;
    std::string_view after;
    std::string_view attributes = {};
};
std::optional<Found> element(std::string_view xml, std::string_view name) {
    const std::string open = "<" + std::string(name);
    const std::string close = "</" + std::string(name) + ">";
    for (std::size_t at = xml.find(open); at != std::string_view::npos; at = xml.find(open, at + 1)) {
        const std::size_t after_name = at + open.size();
        if (after_name >= xml.size() || (xml[after_name] != '>' && xml[after_name] != ' ')) continue;
        const std::size_t begin = xml.find('>', after_name);
        if (begin == std::string_view::npos) return std::nullopt;
        const std::size_t end = xml.find(close, begin);
        if (end == std::string_view::npos) return std::nullopt;
        return Found{xml.substr(begin + 1, end - begin - 1), xml.substr(end + close.size()),
                     xml.substr(after_name, begin - after_name)};
    }
    return std::nullopt;
}

// Names that XML cannot hold come encoded.
std::string name_in(const Found& name) {
    const std::string text = unescape(name.inside);
    return name.attributes.find("Encoded=\"true\"") == std::string_view::npos ? text : percent_decode(text);
}

}  // namespace

BlobPage parse_blob_list(std::string_view xml) {
    BlobPage page;
    std::string_view rest = xml;
    while (const auto blob = element(rest, "Blob")) {
        rest = blob->after;
        const auto name = element(blob->inside, "Name");
        if (!name) continue;
        ListedBlob listed{name_in(*name), 0};
        if (const auto length = element(blob->inside, "Content-Length")) {
            listed.bytes = static_cast<std::uint64_t>(parse_integer(trim(length->inside)).value_or(0));
        }
        if (const auto modified = element(blob->inside, "Last-Modified")) listed.modified = modified->inside;
        if (const auto md5 = element(blob->inside, "Content-MD5")) listed.md5 = unescape(md5->inside);
        page.blobs.push_back(std::move(listed));
    }
    std::string_view folders = xml;
    while (const auto folder = element(folders, "BlobPrefix")) {
        folders = folder->after;
        if (const auto name = element(folder->inside, "Name")) page.folders.push_back(name_in(*name));
    }
    if (const auto marker = element(rest, "NextMarker")) page.next_marker = unescape(marker->inside);
    return page;
}

std::string storage_message(std::string_view xml) {
    const auto message = element(xml, "Message");
    return message ? unescape(trim(message->inside)) : "";
}

}  // namespace lavant::cli
