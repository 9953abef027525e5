#include "wire/arm_compute.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "core/spec/problems.h"
#include "wire/arm_compute_reader.h"

namespace lavant::wire {
namespace {

using spec::Problems;

bool is_secret(std::string_view key) {
    const std::string word = to_lower(key);
    // Words too short to be looked for inside others: publicKey and userAccountCredentials are no secrets.
    constexpr std::array<std::string_view, 7> kWhole = {"key",    "token",      "sastoken",   "accountkey",
                                                        "apikey", "credential", "credentials"};
    if (std::ranges::find(kWhole, word) != kWhole.end()) return true;
    return std::ranges::any_of(
        std::array{"password", "privatekey", "accesstoken", "connectionstring", "secret"},
        [&](const char* part) { return word.find(part) != std::string::npos; });
}

// Wherever they are in the properties; tags and identities are names, which are the user's own. What an
// application is to find in its environment is the user's to decide.
bool drop_secrets(Json& value) {
    bool dropped = false;
    if (value.is_array())
        for (Json& item : value.mutable_items()) dropped = drop_secrets(item) || dropped;
    if (!value.is_object()) return dropped;
    dropped = std::erase_if(value.mutable_members(), [](const Json::Member& member) {
                  return is_secret(member.key) && !member.value.is_null();
              }) > 0;
    for (Json::Member& member : value.mutable_members())
        if (member.key != "environmentVariables") dropped = drop_secrets(member.value) || dropped;
    return dropped;
}

void drop_nulls(Json& object) {
    std::erase_if(object.mutable_members(), [](const Json::Member& one) { return one.value.is_null(); });
}

// `sent` over `stored`: what is absent or null stays. Objects inside are merged likewise.
void inherit(Json& sent, const Json& stored) {
    for (const Json::Member& member : stored.members()) {
        Json& mine = sent.member(member.key);
        if (mine.is_null()) {
            mine = member.value;
        } else if (mine.is_object() && member.value.is_object()) {
            inherit(mine, member.value);
        }
    }
}

struct FixedField {
    const char* path;
    const char* what;
};
constexpr FixedField kFixed[] = {
    {"location", "the region"},
    {"properties.properties.vmSize", "the size"},
    {"properties.properties.vmPriority", "the tier"},
    {"properties.properties.subnet.id", "the network"},
    {"properties.properties.enableNodePublicIp", "the network"},
    {"properties.properties.remoteLoginPortPublicAccess", "SSH access"},
    {"properties.properties.userAccountCredentials.adminUserName", "SSH access"},
    {"properties.properties.userAccountCredentials.adminUserSshPublicKey", "SSH access"},
    {"properties.properties.sshSettings.sshPublicAccess", "SSH access"},
    {"properties.properties.nodeSharing", "how nodes are shared"},
    {"properties.resourceId", "what is attached"},
};

void check_fixed(ComputeReader& reader, const Json& stored, const Json& wanted) {
    for (const FixedField& field : kFixed) {
        const Json& was = stored.get(field.path);
        const Json& is = wanted.get(field.path);
        const bool same =
            was.is_string() && is.is_string() ? equals_ignoring_case(was.text(), is.text()) : was == is;
        if (same) continue;
        const bool key = std::string_view(field.path).ends_with("Key");
        const std::string now = was.is_null() || key ? "" : ", and it is " + was.scalar_text();
        reader.problem(field.path, "cannot be changed: " + std::string(field.what) +
                                       " is fixed when a compute is made" + now +
                                       "; make another, or delete this one first");
    }
}

void choose_size(ComputeReader& reader, const ComputeAsk& ask, ArmCompute& out) {
    if (is_attached(out.kind) || out.size.empty()) return;
    auto chosen = ask.choose_size(out.size);
    if (!chosen) return reader.problem(kSizePath, chosen.error().message);
    if (!chosen->warning.empty()) out.warnings.push_back(std::move(chosen->warning));
    out.size = std::move(chosen->name);
    out.document.member("properties").member("properties").set("vmSize", out.size);
}

// `sent` as it would be had it said everything.
Json completed(Json sent, const Json& stored, ComputeRequest request) {
    drop_nulls(sent);
    Json& properties = sent.member("properties");
    if (!properties.is_object()) return sent;
    drop_nulls(properties);
    Json& inner = properties.member("properties");
    if (inner.is_null()) inner = Json::object();
    if (inner.is_object()) {
        if (inner["remoteLoginPortPublicAccess"].text() == "NotSpecified")
            inner.remove("remoteLoginPortPublicAccess");
        inner.remove("state");  // It is changed by start and stop.
        inherit(inner, stored.get("properties.properties"));
    }
    for (const char* key : {"computeType", "resourceId", "disableLocalAuth"})
        if (properties[key].is_null() && stored["properties"].has(key))
            properties.set(key, stored["properties"][key]);
    const bool patch = request == ComputeRequest::Patch;
    if (patch && !properties.has("description") && stored["properties"].has("description"))
        properties.set("description", stored["properties"]["description"]);
    // From here on `properties` may have moved.
    if (sent["location"].is_null()) sent.set("location", stored["location"]);
    if (patch && !sent.has("identity") && stored.has("identity")) sent.set("identity", stored["identity"]);
    return sent;
}

// Of a PATCH: those that are there, with those that come; one that comes as null goes.
Json patched_tags(const Json& sent, const Json& stored) {
    if (!sent.is_object()) return sent.is_null() ? stored : sent;
    Json tags = stored.is_object() ? stored : Json::object();
    for (const Json::Member& tag : sent.members()) {
        if (tag.value.is_null()) {
            tags.remove(tag.key);
        } else {
            tags.set(tag.key, tag.value);
        }
    }
    return tags;
}

std::string kinds_listed() {
    std::vector<std::string> names;
    for (const ComputeKind kind : kEveryComputeKind) names.emplace_back(arm_name_of(kind));
    return spec::listed(names);
}

Result<ComputeKind> kind_of(const Json& document) {
    const std::string word = document.get("properties.computeType").string();
    if (const auto kind = parse_compute_kind(word)) return *kind;
    const std::string message = word.empty()
                                    ? "is missing; it must be " + kinds_listed()
                                    : "cannot be '" + word.substr(0, 80) + "'; it must be " + kinds_listed();
    return fail(Error{ErrorCode::InvalidArgument,
                      "the compute is not valid: properties.computeType: " + message,
                      {{"properties.computeType", message}}});
}

}  // namespace

Result<ArmCompute> parse_arm_compute(const ComputeAsk& ask) {
    LAVANT_TRY(Json sent, parse_json(ask.body));
    if (!sent["properties"].is_object() && !(ask.request == ComputeRequest::Patch && sent.is_object()))
        return fail(ErrorCode::InvalidArgument,
                    "the body must be an object with the object 'properties' in it");
    const bool had_secrets = sent.has("properties") && drop_secrets(sent.member("properties"));
    if (ask.stored != nullptr) {
        if (!sent["properties"].is_object()) sent.set("properties", Json::object());
        if (ask.request == ComputeRequest::Patch)
            sent.set("tags", patched_tags(sent["tags"], (*ask.stored)["tags"]));
        sent = completed(std::move(sent), *ask.stored, ask.request);
    } else if (Json& inner = sent.member("properties").member("properties"); inner.is_object()) {
        inner.remove("state");
    }
    LAVANT_TRY(const ComputeKind kind, kind_of(sent));
    if (ask.stored != nullptr && kind_of(*ask.stored).value_or(kind) != kind)
        return fail(ErrorCode::AlreadyExists, "its type cannot be changed");
    Problems problems;
    ComputeReader reader(problems);
    for (std::string& broken : check_compute_name(kind, ask.name)) reader.problem("name", std::move(broken));
    ArmCompute out = read_document(reader, sent, kind);
    choose_size(reader, ask, out);
    if (ask.stored != nullptr && problems.empty()) check_fixed(reader, *ask.stored, out.document);
    if (out.document.dump().size() > kComputeDocumentBytes)
        reader.problem("properties", "is too large: at most " + std::to_string(kComputeDocumentBytes >> 10) +
                                         " KiB of a compute are kept");
    if (!problems.empty()) return fail(problems.to_error("compute '" + ask.name.substr(0, 80) + "'"));
    if (had_secrets) out.warnings.emplace_back("passwords and private keys are not kept; leave them out");
    return out;
}

Result<ArmCompute> read_stored_compute(const Json& document) {
    LAVANT_TRY(const ComputeKind kind, kind_of(document));
    Problems problems;
    ComputeReader reader(problems);
    ArmCompute out = read_document(reader, document, kind);
    if (!problems.empty()) return fail(problems.to_error("a stored compute"));
    return out;
}

Json with_power(Json document, bool running) {
    document.member("properties").member("properties").set("state", running ? "Running" : "Stopped");
    return document;
}

}  // namespace lavant::wire
