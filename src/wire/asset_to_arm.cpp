#include "wire/asset_to_arm.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/text.h"
#include "wire/job_to_arm.h"
#include "wire/sections_to_arm.h"

namespace lavant::wire {
namespace {

constexpr const char* kAuthority = "https://login.microsoftonline.com";
constexpr const char* kStorageSuffix = "core.windows.net";

template <class T>
Json list_of(const std::vector<T>& values) {
    Json list = Json::array();
    for (const T& value : values) list.append(value);
    return list;
}

Json wrapped(Json properties) { return Json::object({{"properties", std::move(properties)}}); }

Json what_assets_share(const spec::AssetSpec& spec) {
    Json value = Json::object();
    set_text(value, "description", spec.description);
    value.set("tags", to_json(spec.tags));
    value.set("properties", to_json(spec.properties));
    value.set("isAnonymous", false);
    value.set("isArchived", false);
    return value;
}

std::string capitalised(std::string_view word) {
    std::string text(word);
    if (!text.empty())
        text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
    return text;
}

// "2026-01-31T10:00:00" travels with a blank.
std::string wire_time(const std::string& written) {
    if (written.size() < 16) return written;
    std::string text = written;
    text[10] = ' ';
    if (text.size() == 16) text += ":00";
    return text;
}

Json trigger_of(const spec::TriggerSpec& trigger) {
    Json value = Json::object({{"triggerType", trigger.cron ? "Cron" : "Recurrence"}});
    set_text(value, "startTime", wire_time(trigger.start_time));
    set_text(value, "endTime", wire_time(trigger.end_time));
    value.set("timeZone", trigger.time_zone.empty() ? "UTC" : trigger.time_zone);
    if (trigger.cron) return value.set("expression", trigger.expression);
    value.set("frequency", trigger.frequency);
    value.set("interval", trigger.interval.value_or(1));
    Json pattern = Json::object({{"hours", list_of(trigger.hours)}, {"minutes", list_of(trigger.minutes)}});
    if (!trigger.week_days.empty()) pattern.set("weekDays", list_of(trigger.week_days));
    if (!trigger.month_days.empty()) pattern.set("monthDays", list_of(trigger.month_days));
    return value.set("schedule", std::move(pattern));
}

Json secret_of(const char* type, const char* key, const std::string& secret) {
    Json value = Json::object({{"secretsType", type}});
    set_text(value, key, secret);
    return value;
}

Json credentials_of(const spec::DatastoreCredentials& credentials) {
    using spec::CredentialKind;
    const bool principal = credentials.kind == CredentialKind::ServicePrincipal;
    switch (credentials.kind) {
        case CredentialKind::None:
            return Json::object({{"credentialsType", "None"}});
        case CredentialKind::AccountKey:
            return Json::object({{"credentialsType", "AccountKey"},
                                 {"secrets", secret_of("AccountKey", "key", credentials.secret)}});
        case CredentialKind::Sas:
            return Json::object(
                {{"credentialsType", "Sas"}, {"secrets", secret_of("Sas", "sasToken", credentials.secret)}});
        case CredentialKind::ServicePrincipal:
        case CredentialKind::Certificate:
            break;
    }
    const char* type = principal ? "ServicePrincipal" : "Certificate";
    Json value = Json::object({{"credentialsType", type}});
    value.set("authorityUrl", credentials.authority_url.empty() ? kAuthority : credentials.authority_url);
    set_text(value, "resourceUrl", credentials.resource_url);
    value.set("tenantId", credentials.tenant_id);
    value.set("clientId", credentials.client_id);
    set_text(value, "thumbprint", credentials.thumbprint);
    return value.set("secrets",
                     secret_of(type, principal ? "clientSecret" : "certificate", credentials.secret));
}

struct StoreWords {
    const char* type;
    const char* arm_type;
    const char* container_key;
    bool has_account;
};

constexpr StoreWords kStores[] = {{"azure_blob", "AzureBlob", "containerName", true},
                                  {"azure_file", "AzureFile", "fileShareName", true},
                                  {"azure_data_lake_gen1", "AzureDataLakeGen1", "storeName", false},
                                  {"azure_data_lake_gen2", "AzureDataLakeGen2", "filesystem", true}};

Json one_lake_of(const spec::DatastoreSpec& spec) {
    Json value = Json::object({{"datastoreType", "OneLake"},
                               {"oneLakeWorkspaceName", spec.one_lake_workspace},
                               {"endpoint", spec.endpoint}});
    if (!spec.artifact_name.empty())
        value.set("artifact",
                  Json::object({{"artifactType", "LakeHouse"}, {"artifactName", spec.artifact_name}}));
    return value;
}

Json store_of(const spec::DatastoreSpec& spec) {
    if (spec.type == "one_lake") return one_lake_of(spec);
    if (spec.type == "local")
        return Json::object(
            {{"datastoreType", "AzureBlob"}, {"lavant", Json::object({{"path", spec.folder}})}});
    const auto* words = std::ranges::find(kStores, spec.type, &StoreWords::type);
    Json value = Json::object({{"datastoreType", words->arm_type}});
    if (words->has_account) {
        value.set("accountName", spec.account_name);
        value.set("endpoint", spec.endpoint.empty() ? kStorageSuffix : spec.endpoint);
        value.set("protocol", spec.protocol.empty() ? "https" : spec.protocol);
    }
    return value.set(words->container_key, spec.container);
}

Json action_of(const spec::ScheduleSpec& spec, Json job) {
    using Action = spec::ScheduleSpec::Action;
    if (spec.action == Action::Job)
        return Json::object({{"actionType", "CreateJob"}, {"jobDefinition", std::move(job)}});
    const Json definition = spec.definition ? with_camel_keys(to_json(*spec.definition)) : Json();
    if (spec.action == Action::Monitor)
        return Json::object({{"actionType", "CreateMonitor"}, {"monitorDefinition", definition}});
    return Json::object({{"actionType", "ImportData"}, {"dataImportDefinition", definition}});
}

}  // namespace

std::string camel_case(std::string_view snake) {
    std::string out;
    for (const std::string_view word : split(snake, '_'))
        out += out.empty() ? std::string(word) : capitalised(word);
    return out;
}

Json with_camel_keys(const Json& value) {
    if (value.is_array()) {
        Json list = Json::array();
        for (const Json& item : value.items()) list.append(with_camel_keys(item));
        return list;
    }
    if (!value.is_object()) return value;
    Json out = Json::object();
    for (const auto& [key, member] : value.members()) out.set(camel_case(key), with_camel_keys(member));
    return out;
}

Json to_arm_data(const spec::AssetSpec& spec, const std::string& uri) {
    Json value = what_assets_share(spec);
    value.set("dataType", spec.type);
    value.set("dataUri", uri.empty() ? spec.path : uri);
    if (!spec.referenced.empty()) value.set("referencedUris", list_of(spec.referenced));
    return wrapped(std::move(value));
}

Json to_arm_model(const spec::AssetSpec& spec, const std::string& uri) {
    Json value = what_assets_share(spec);
    value.set("modelType", spec.type);
    value.set("modelUri", uri.empty() ? spec.path : uri);
    set_text(value, "stage", spec.stage);
    if (spec.flavors) {
        Json flavors = Json::object();
        for (const auto& entry : spec.flavors->entries)
            flavors.set(entry.key, Json::object({{"data", to_json(entry.value)}}));
        value.set("flavors", std::move(flavors));
    }
    return wrapped(std::move(value));
}

Json to_arm_environment(const spec::EnvironmentFile& file, const std::string& context_uri) {
    Json body = *parse_json(to_arm_environment(file.environment, context_uri));
    Json& value = body.member("properties");
    if (!file.properties.empty()) value.set("properties", to_json(file.properties));
    if (file.inference_config) value.set("inferenceConfig", with_camel_keys(to_json(*file.inference_config)));
    value.set("isAnonymous", false);
    value.set("isArchived", false);
    return body;
}

Json to_arm_datastore(const spec::DatastoreSpec& spec) {
    Json value = store_of(spec);
    set_text(value, "description", spec.description);
    value.set("tags", to_json(spec.tags));
    value.set("credentials", credentials_of(spec.credentials));
    return wrapped(std::move(value));
}

Json to_arm_schedule(const spec::ScheduleSpec& spec, Json job) {
    Json value = Json::object();
    set_text(value, "displayName", spec.display_name);
    set_text(value, "description", spec.description);
    value.set("tags", to_json(spec.tags));
    value.set("properties", to_json(spec.properties));
    value.set("trigger", trigger_of(spec.trigger));
    value.set("action", action_of(spec, std::move(job)));
    return wrapped(std::move(value));
}

}  // namespace lavant::wire
