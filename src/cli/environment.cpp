#include "cli/environment.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "base/files.h"
#include "base/text.h"
#include "cli/contexts.h"
#include "cli/local_server.h"

namespace lavant::cli {
namespace {

constexpr std::size_t kBundleBytesMax = 16U << 20;
constexpr const char* kBundle = "REQUESTS_CA_BUNDLE";
constexpr const char* kBundleBefore = "LAVANT_CA_BUNDLE_BEFORE";  // what --unset gives back
constexpr const char* kBundleFile = "/lavant-ca-bundle.pem";      // a name that tells whose it is
constexpr const char* kDefaultEnvironment = "azureml:base:1";
constexpr const char* kSystemBundles[] = {"/etc/ssl/certs/ca-certificates.crt",
                                          "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"};

// Everything `lavant env` ever sets, but the bundle, which may have been somebody else's before.
constexpr const char* kNames[] = {"ARM_CLOUD_METADATA_URL",
                                  "IDENTITY_ENDPOINT",
                                  "IDENTITY_HEADER",
                                  "REGISTRY_DISCOVERY_ENDPOINT_URL",
                                  "MLFLOW_TRACKING_URI",
                                  "MLFLOW_TRACKING_TOKEN",
                                  "LAVANT_ENDPOINT",
                                  "LAVANT_CA",
                                  "LAVANT_TOKEN",
                                  "LAVANT_SUB",
                                  "LAVANT_RG",
                                  "LAVANT_WS",
                                  "LAVANT_ENV",
                                  "LAVANT_DATA"};

// The certificates of a file, with a line end after the last; "" where it has none.
std::string certificates_in(const std::string& path) {
    if (path.empty()) return {};
    auto text = read_file(path, kBundleBytesMax);
    if (!text || text->find("BEGIN CERTIFICATE") == std::string::npos) return {};
    return text->ends_with('\n') ? std::move(*text) : std::move(*text) + '\n';
}

// The certificates in force before ours: what the shell names, else the system's.
std::string bundle_in_force(const Context& context, const std::string& ours) {
    // After an earlier `eval` the variable names our own bundle, and another what it was before.
    const std::string named = context.variable(kBundle);
    std::vector<std::string> candidates{named == ours ? context.variable(kBundleBefore) : named,
                                        context.variable("SSL_CERT_FILE"),
                                        context.variable("CURL_CA_BUNDLE")};
    candidates.insert(candidates.end(), std::begin(kSystemBundles), std::end(kSystemBundles));
    for (const std::string& path : candidates) {
        if (path == ours) continue;  // appending to it again would let it grow
        if (std::string text = certificates_in(path); !text.empty()) return text;
    }
    return {};
}

Outcome<void> write_bundle(const Context& context, const std::string& path, const std::string& ca_file) {
    LAVANT_TRY(const std::string ca, read_file(ca_file, kBundleBytesMax));
    // In pip the variable that we set wins over pip's own: without the certificates named there the eval
    // would cut pip off from its index.
    const std::string pips = certificates_in(context.variable("PIP_CERT"));
    const auto has = [](const std::string& bundle, const std::string& certificates) {
        return bundle.find(trim(certificates)) != std::string::npos;
    };
    if (context.variable(kBundle) == path) {
        // Made by an earlier call from the same shell: it stays as it is while it has what it must.
        const auto old = read_file(path, kBundleBytesMax * 3);
        if (old && has(*old, ca) && has(*old, pips)) return {};
    }
    std::string bundle = bundle_in_force(context, path);
    if (!has(bundle, pips)) bundle += pips;
    bundle += ca;
    LAVANT_TRY_VOID(make_directories(parent_of(path)));
    LAVANT_TRY_VOID(write_file_atomically(path, bundle, 0644));
    return {};
}

// Beside the server's other files: the context's, or the data folder's.
Outcome<std::string> bundle_path(const Context& context, const ServerChoice& flags,
                                 const ServerAddress& address) {
    if (!address.context.empty()) return context_folder(context, address.context) + kBundleFile;
    LAVANT_TRY(const std::string data, data_folder(context, flags.data));
    return data + kBundleFile;
}

std::string escaped(std::string_view text, std::string_view special, std::string_view before) {
    std::string out;
    for (const char c : text) {
        if (special.find(c) != std::string_view::npos) out += before;
        out += c;
    }
    return out;
}

// PowerShell takes the typographic quotes for quotes too; doubled, each stands for itself.
std::string powershell_quoted(std::string_view text) {
    std::string out = "'";
    for (std::size_t i = 0; i < text.size(); ++i) {
        const std::string_view rest = text.substr(i);
        const bool curly = rest.size() >= 3 && rest.starts_with("\xe2\x80") &&
                           static_cast<unsigned char>(rest[2]) >= 0x98 &&
                           static_cast<unsigned char>(rest[2]) <= 0x9b;
        const std::string_view one = rest.substr(0, curly ? 3 : 1);
        out += one;
        if (curly || one == "'") out += one;
        i += one.size() - 1;
    }
    return out + "'";
}

// Readers of such files agree on this much: a plain word, else quotes; a line end in a value they do not.
Result<std::string> dotenv_quoted(std::string_view name, std::string_view value) {
    const bool has_control = std::ranges::any_of(value, [](char c) {
        return static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) == 0x7f;
    });
    if (has_control)
        return fail(ErrorCode::InvalidArgument,
                    fmt::format("a dotenv file cannot hold the value of {}: it has a line end or another "
                                "control character; use another format",
                                name));
    const bool plain = std::ranges::all_of(value, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("_./:@%+,=?-").find(c) != std::string_view::npos;
    });
    if (plain) return std::string(value);
    if (value.find_first_of("'\\") == std::string_view::npos) return "'" + std::string(value) + "'";
    return "\"" + escaped(value, "\\\"$`", "\\") + "\"";
}

// Those of a service principal elsewhere, by name; one of this server's says so by its authority.
std::string credentials_that_win(const Context& context, const Variables& values) {
    const auto endpoint = std::ranges::find(values, "LAVANT_ENDPOINT", &Variables::value_type::first);
    if (endpoint != values.end() && context.variable("AZURE_AUTHORITY_HOST").starts_with(endpoint->second))
        return "";
    std::string names;
    for (const char* name : {"AZURE_CLIENT_ID", "AZURE_TENANT_ID", "AZURE_CLIENT_SECRET"})
        if (!context.variable(name).empty()) names += (names.empty() ? "" : " ") + std::string(name);
    return context.variable("AZURE_CLIENT_SECRET").empty() ? "" : names;
}

}  // namespace

Result<std::string> line_that_sets(EnvFormat format, std::string_view name, std::string_view value) {
    switch (format) {
        case EnvFormat::Sh:
            return fmt::format("export {}={}\n", name, shell_quote(value));
        case EnvFormat::Fish:
            return fmt::format("set -gx {} '{}'\n", name, escaped(value, "\\'", "\\"));
        case EnvFormat::Dotenv: {
            LAVANT_TRY(const std::string quoted, dotenv_quoted(name, value));
            return fmt::format("{}={}\n", name, quoted);
        }
        case EnvFormat::Powershell:
            return fmt::format("$env:{} = {}\n", name, powershell_quoted(value));
    }
    CHECK(false, "every format is written");
}

std::string line_that_unsets(EnvFormat format, std::string_view name) {
    switch (format) {
        case EnvFormat::Sh:
            return fmt::format("unset {}\n", name);
        case EnvFormat::Fish:
            return fmt::format("set -e {}\n", name);
        case EnvFormat::Dotenv:
            return "";
        case EnvFormat::Powershell:
            return fmt::format("Remove-Item Env:{} -ErrorAction SilentlyContinue\n", name);
    }
    CHECK(false, "every format is written");
}

Outcome<Variables> variables_for(Context& context, const ServerChoice& flags) {
    LAVANT_TRY(const Session session, connect(context, flags));
    const ServerAddress& address = session.address();
    const std::string environment = context.variable("LAVANT_ENV");
    Variables values{{"ARM_CLOUD_METADATA_URL", address.url + "/metadata/endpoints?api-version=2020-09-01"}};
    if (!address.ca_file.empty()) {
        LAVANT_TRY(const std::string bundle, bundle_path(context, flags, address));
        LAVANT_TRY_VOID(write_bundle(context, bundle, address.ca_file));
        values.emplace_back(kBundle, bundle);
        const std::string before = context.variable(kBundle);
        if (!before.empty() && !before.ends_with(kBundleFile)) values.emplace_back(kBundleBefore, before);
    }
    const std::pair<const char*, std::string> rest[] = {
        {"IDENTITY_ENDPOINT", address.url + "/msi/token"},
        {"IDENTITY_HEADER", address.token},
        {"REGISTRY_DISCOVERY_ENDPOINT_URL", address.url + "/"},  // of MLClient(registry_name="azureml")
        {"MLFLOW_TRACKING_URI", address.url + "/mlflow/v1.0" + session.workspace_path()},
        {"MLFLOW_TRACKING_TOKEN", address.token},
        {"LAVANT_ENDPOINT", address.url},
        {"LAVANT_CA", address.ca_file},
        {"LAVANT_TOKEN", address.token},
        {"LAVANT_SUB", address.workspace.subscription},
        {"LAVANT_RG", address.workspace.resource_group},
        {"LAVANT_WS", address.workspace.name},
        {"LAVANT_ENV", environment.empty() ? kDefaultEnvironment : environment},
    };
    values.insert(values.end(), std::begin(rest), std::end(rest));
    // With its folder the server is started again when it has left and the shell still has these.
    if (!address.data.empty()) values.emplace_back("LAVANT_DATA", address.data);
    return values;
}

Outcome<Exit> print_environment(Context& context, const ServerChoice& flags, EnvFormat format) {
    LAVANT_TRY(const Variables values, variables_for(context, flags));
    std::string lines;
    for (const auto& [name, value] : values) {
        if (value.empty()) {  // of another server, perhaps, that this shell had before
            lines += line_that_unsets(format, name);
            continue;
        }
        LAVANT_TRY(const std::string line, line_that_sets(format, name, value));
        lines += line;
    }
    context.console.out << lines;
    context.console.out.flush();
    if (const std::string there = credentials_that_win(context, values); !there.empty())
        context.console.err << "warning: " << there
                            << " of this shell come before the key of this server in "
                               "DefaultAzureCredential; to use the server: unset "
                            << there << "\n";
    return Exit::Completed;
}

Outcome<Exit> print_environment_undone(Context& context, EnvFormat format) {
    if (format == EnvFormat::Dotenv)
        return stop(Exit::Usage, ErrorCode::InvalidArgument,
                    "a dotenv file cannot take a variable away; remove its lines instead");
    std::string lines;
    for (const char* name : kNames) lines += line_that_unsets(format, name);
    if (context.variable(kBundle).ends_with(kBundleFile)) {
        if (const std::string before = context.variable(kBundleBefore); !before.empty()) {
            LAVANT_TRY(const std::string line, line_that_sets(format, kBundle, before));
            lines += line;
        } else {
            lines += line_that_unsets(format, kBundle);
        }
    }
    lines += line_that_unsets(format, kBundleBefore);
    context.console.out << lines;
    context.console.out.flush();
    return Exit::Completed;
}

}  // namespace lavant::cli
