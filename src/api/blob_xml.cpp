#include "api/blob_xml.h"

#include <algorithm>

#include "api/answers.h"
#include "base/text.h"

namespace lavant::api {
namespace {

constexpr std::size_t kBlocksMax = 50'000;

// U+FFFE and U+FFFF are no characters of XML, nor is what is not UTF-8.
bool fits_xml(std::string_view text) {
    return valid_utf8_bytes(text) == text.size() && text.find("\xef\xbf\xbe") == std::string_view::npos &&
           text.find("\xef\xbf\xbf") == std::string_view::npos && std::ranges::none_of(text, [](char c) {
               return static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n';
           });
}

void element(std::string& out, std::string_view tag, std::string_view text) {
    ((out += '<') += tag) += '>';
    out += xml_escape(text);
    ((out += "</") += tag) += '>';
}

void name_element(std::string& out, std::string_view name) {
    if (fits_xml(name)) return element(out, "Name", name);
    out += "<Name Encoded=\"true\">" + percent_encode(name) + "</Name>";
}

bool is_metadata_name(std::string_view name) {
    return !name.empty() && std::ranges::all_of(name, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    });
}

void blob_element(std::string& out, const ports::BlobInfo& blob, bool with_metadata) {
    out += "<Blob>";
    name_element(out, blob.name);
    out += "<Properties>";
    element(out, "Last-Modified", to_http_date(blob.modified_at));
    element(out, "Etag", blob.etag);  // without quotes, as nowhere else
    element(out, "Content-Length", std::to_string(blob.bytes));
    const auto property = [&](const std::string& name, std::string_view otherwise) {
        const auto found = blob.properties.find(name);
        return found == blob.properties.end() ? std::string(otherwise) : found->second;
    };
    element(out, "Content-Type", property("content-type", "application/octet-stream"));
    element(out, "Content-Encoding", property("content-encoding", ""));
    element(out, "Content-Language", property("content-language", ""));
    element(out, "Content-MD5", property(ports::kMd5Property, ""));
    element(out, "Cache-Control", property("cache-control", ""));
    element(out, "Content-Disposition", property("content-disposition", ""));
    out +=
        "<BlobType>BlockBlob</BlobType><LeaseStatus>unlocked</LeaseStatus><LeaseState>available</LeaseState>"
        "</Properties>";
    if (with_metadata) {
        out += "<Metadata>";
        for (const auto& [key, value] : blob.metadata)
            if (is_metadata_name(key)) element(out, key, value);
        out += "</Metadata>";
    }
    out += "</Blob>";
}

}  // namespace

std::string render_blob_list(const ports::BlobListing& listing, const ports::BlobPage& page,
                             const ListView& view) {
    std::string out =
        "\xef\xbb\xbf<?xml version=\"1.0\" encoding=\"utf-8\"?><EnumerationResults ServiceEndpoint=\"" +
        xml_escape(view.endpoint) + "\" ContainerName=\"" + xml_escape(listing.container) + "\">";
    element(out, "Prefix", listing.prefix);
    if (!listing.marker.empty()) element(out, "Marker", listing.marker);
    element(out, "MaxResults", std::to_string(listing.limit));
    if (!listing.delimiter.empty()) element(out, "Delimiter", listing.delimiter);
    out += "<Blobs>";
    for (const std::string& prefix : page.prefixes) {
        out += "<BlobPrefix>";
        name_element(out, prefix);
        out += "</BlobPrefix>";
    }
    for (const ports::BlobInfo& blob : page.blobs) blob_element(out, blob, view.with_metadata);
    out += "</Blobs><NextMarker>" + xml_escape(page.next_marker) + "</NextMarker></EnumerationResults>";
    return out;
}

std::string render_container_list(const std::string& endpoint, const std::string& prefix,
                                  const std::vector<std::string>& containers) {
    std::string out =
        "\xef\xbb\xbf<?xml version=\"1.0\" encoding=\"utf-8\"?><EnumerationResults ServiceEndpoint=\"" +
        xml_escape(endpoint) + "\">";
    element(out, "Prefix", prefix);
    out += "<Containers>";
    for (const std::string& container : containers) {
        out += "<Container>";
        element(out, "Name", container);
        out += "<Properties>";
        element(out, "Last-Modified", to_http_date(from_micros(0)));
        out +=
            "<Etag>0x1</Etag><LeaseStatus>unlocked</LeaseStatus><LeaseState>available</LeaseState>"
            "</Properties></Container>";
    }
    out += "</Containers><NextMarker /></EnumerationResults>";
    return out;
}

std::string render_block_list(const ports::BlockList& blocks, bool committed, bool uncommitted) {
    std::string out = "\xef\xbb\xbf<?xml version=\"1.0\" encoding=\"utf-8\"?><BlockList>";
    const auto part = [&out](std::string_view tag, const std::vector<ports::BlockInfo>& some) {
        out += "<" + std::string(tag) + ">";
        for (const ports::BlockInfo& block : some) {
            out += "<Block>";
            element(out, "Name", base64_encode(base64url_decode(block.id).value_or("")));
            element(out, "Size", std::to_string(block.bytes));
            out += "</Block>";
        }
        out += "</" + std::string(tag) + ">";
    };
    if (committed) part("CommittedBlocks", blocks.committed);
    if (uncommitted) part("UncommittedBlocks", blocks.uncommitted);
    return out + "</BlockList>";
}

Result<std::vector<ports::BlockRef>> parse_block_list(std::string_view xml) {
    const auto bad = [] {
        return fail(ErrorCode::InvalidArgument,
                    "the block list is not <BlockList><Latest>id</Latest>...</BlockList>");
    };
    const std::size_t start = xml.find("<BlockList>");
    if (start == std::string_view::npos) {
        if (xml.find("<BlockList/>") != std::string_view::npos ||
            xml.find("<BlockList />") != std::string_view::npos)
            return std::vector<ports::BlockRef>{};
        return bad();
    }
    std::string_view rest = xml.substr(start + std::string_view("<BlockList>").size());
    using From = ports::BlockRef::From;
    std::vector<ports::BlockRef> blocks;
    while (true) {
        rest = trim(rest);
        if (rest.starts_with("</BlockList>")) return blocks;
        const std::size_t open_end = rest.find('>');
        if (!rest.starts_with('<') || open_end == std::string_view::npos) return bad();
        const std::string_view tag = rest.substr(1, open_end - 1);
        if (tag != "Latest" && tag != "Committed" && tag != "Uncommitted") return bad();
        rest.remove_prefix(open_end + 1);
        const std::string close = "</" + std::string(tag) + ">";
        const std::size_t end = rest.find(close);
        if (end == std::string_view::npos || blocks.size() >= kBlocksMax) return bad();
        const From from =
            tag == "Latest" ? From::Latest : (tag == "Committed" ? From::Committed : From::Uncommitted);
        blocks.push_back({std::string(trim(rest.substr(0, end))), from});
        if (blocks.back().id.find_first_of("<>&") != std::string::npos) return bad();
        rest.remove_prefix(end + close.size());
    }
}

}  // namespace lavant::api
