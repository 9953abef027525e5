#include "cli/compute_create.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/limits.h"
#include "base/text.h"
#include "cli/compute_commands.h"
#include "cli/file_options.h"
#include "core/spec/compute.h"
#include "wire/az_compute.h"
#include "wire/compute_file.h"
#include "wire/compute_to_arm.h"
#include "wire/yaml.h"

namespace lavant::cli {
namespace {

using spec::ComputeSpec;
using spec::ComputeText;
using spec::Document;
using wire::Json;

// Flags whose values are not text.
bool is_switch(std::string_view key) {
    return key == "ssh_public_access_enabled" || key == "enable_node_public_ip";
}

std::string flag_of(std::string_view key) {
    std::string flag = "--" + std::string(key.substr(key.rfind('.') + 1));
    std::ranges::replace(flag, '_', '-');
    return flag;
}

Outcome<Document> read_tags(const std::vector<std::string>& pairs) {
    Document tags = Document::map();
    for (const std::string& pair : pairs) {
        const std::size_t equals = pair.find('=');
        if (equals == std::string::npos || equals == 0)
            return stop(Exit::Usage, ErrorCode::InvalidArgument,
                        fmt::format("cannot use --tags {}: write it as KEY=VALUE", printable(pair)));
        const std::string key = pair.substr(0, equals);
        std::erase_if(tags.entries, [&](const Document::Entry& one) { return one.key == key; });
        tags.entries.push_back({key, {}, Document::string(pair.substr(equals + 1))});
    }
    return tags;
}

// Names may stand in one word, parted by commas, as in az.
Document read_identities(const std::vector<std::string>& words) {
    Document list;
    list.kind = Document::Kind::List;
    for (const std::string& word : words)
        for (const std::string_view id : split(word, ',')) {
            if (trim(id).empty()) continue;
            Document one = Document::map();
            one.entries.push_back({"resource_id", {}, Document::string(std::string(trim(id)))});
            list.items.push_back(std::move(one));
        }
    return list;
}

// Flags go over what the file says.
Outcome<void> add_flags(Document& root, const ComputeOptions& options) {
    const auto put = [&](const std::string& key, Document value) -> Outcome<void> {
        if (spec::set_at(root, key, std::move(value))) return {};
        return stop(Exit::Usage, ErrorCode::InvalidArgument,
                    fmt::format("cannot use {}: '{}' of the file is not a mapping", flag_of(key),
                                key.substr(0, key.find('.'))));
    };
    for (const auto& [key, word] : options.words)
        if (!word.empty())
            LAVANT_TRY_VOID(put(key, is_switch(key) ? wire::plain_scalar(word, {}) : Document::string(word)));
    if (!options.tags.empty()) {
        LAVANT_TRY(Document tags, read_tags(options.tags));
        LAVANT_TRY_VOID(put("tags", std::move(tags)));
    }
    if (!options.identities.empty())
        LAVANT_TRY_VOID(put("identity.user_assigned_identities", read_identities(options.identities)));
    return {};
}

Outcome<Document> read_document(const Context& context, const ComputeOptions& options) {
    if (options.file.empty()) return Document::map();
    auto root = [&]() -> Result<Document> {
        if (options.file != "-") return wire::read_compute_file(options.file);
        LAVANT_TRY(const std::string text, context.person.read_input(limits::kYamlBytes));
        return wire::read_compute_text(text, "standard input");
    }();
    if (!root) return tl::make_unexpected(Failure(Exit::Usage, std::move(root).error()));
    return std::move(*root);
}

// Whatever is wrong with it, it is the user's to put right.
Outcome<ComputeSpec> check(Document root, ComputeText text, const ComputeOptions& options) {
    auto spec = wire::load_compute(std::move(root), text, options.settings);
    if (spec) return std::move(*spec);
    Error error = std::move(spec).error();
    if (!options.file.empty())
        error = in(options.file == "-" ? "standard input" : options.file)(std::move(error));
    return tl::make_unexpected(Failure(Exit::Usage, std::move(error)));
}

Outcome<ComputeSpec> load(const Context& context, const ComputeOptions& options) {
    LAVANT_TRY(Document root, read_document(context, options));
    LAVANT_TRY_VOID(add_flags(root, options));
    // With flags alone a cluster is what is meant.
    if (options.file.empty() && root.find("type") == nullptr)
        root.entries.push_back({"type", {}, Document::string("amlcompute")});
    LAVANT_TRY(ComputeSpec spec, check(std::move(root), ComputeText::Whole, options));
    if (options.gave_password)
        spec.warnings.push_back("--admin-password" + std::string(spec::kPasswordNotKept));
    return spec;
}

void say_warnings(const Console& console, const ComputeSpec& spec) {
    for (const std::string& warning : spec.warnings)
        console.note("warning: " + printable(warning), Colour::Yellow);
}

Outcome<Exit> print_made(const Json& arm, const Console& console, const Output& output) {
    say_compute_warnings(arm, console);
    const Json compute = wire::to_az_compute(arm);
    LAVANT_TRY_VOID(print(compute, output, console, [&] { return render_compute_line(compute); }));
    return Exit::Completed;
}

// All of it is said already, so that no server has to be asked.
Outcome<Exit> print_whole(const Context& context, const ServerChoice& choice, const ComputeSpec& spec,
                          const Output& output) {
    return print_body(
        wire::to_arm_compute(spec, ComputeText::Whole, with_flags(context.config, choice).workspace()),
        context.console, output);
}

Outcome<Exit> send_whole(Context& context, const ServerChoice& choice, const ComputeSpec& spec,
                         const ComputeOptions& options, const Output& output) {
    say_warnings(context.console, spec);
    if (options.dry_run) return print_whole(context, choice, spec, output);
    LAVANT_TRY(Session session, connect(context, choice));
    const Json body = wire::to_arm_compute(spec, ComputeText::Whole, session.address().workspace);
    const std::string path = session.compute_path(spec.name);
    LAVANT_TRY(const Json made, options.may_exist ? session.put(path, body) : session.create(path, body));
    return print_made(made, context.console, output);
}

}  // namespace

Outcome<Exit> create_compute(Context& context, const ServerChoice& choice, const ComputeOptions& options,
                             const Output& output) {
    LAVANT_TRY(const ComputeSpec spec, load(context, options));
    return send_whole(context, choice, spec, options, output);
}

Outcome<Exit> attach_compute(Context& context, const ServerChoice& choice, const ComputeOptions& options,
                             const Output& output) {
    if (options.file.empty() && options.words.at("type").empty())
        return stop(Exit::Usage, ErrorCode::InvalidArgument,
                    "say what is attached: --type kubernetes, virtualmachine or synapsespark");
    LAVANT_TRY(const ComputeSpec spec, load(context, options));
    if (!is_attached(spec.kind))
        return stop(Exit::Usage, ErrorCode::InvalidArgument,
                    fmt::format("a compute of type {} is made, not attached: lavant compute create",
                                name_of(spec.kind)));
    return send_whole(context, choice, spec, options, output);
}

Outcome<Exit> update_compute(Context& context, const ServerChoice& choice, const ComputeOptions& options,
                             const Output& output) {
    if (!options.file.empty()) {
        LAVANT_TRY(const ComputeSpec spec, load(context, options));
        say_warnings(context.console, spec);
        if (options.dry_run) return print_whole(context, choice, spec, output);
        LAVANT_TRY(Session session, connect(context, choice));
        const Json body = wire::to_arm_compute(spec, ComputeText::Whole, session.address().workspace);
        LAVANT_TRY(const Json changed, session.replace(session.compute_path(spec.name), body));
        return print_made(changed, context.console, output);
    }
    const std::string& name = options.words.at("name");
    if (name.empty())
        return stop(Exit::Usage, ErrorCode::InvalidArgument, "say which compute: lavant compute update NAME");
    Document root = Document::map();
    LAVANT_TRY_VOID(add_flags(root, options));
    if (root.entries.size() == 1 && options.settings.empty())
        return stop(Exit::Usage, ErrorCode::InvalidArgument,
                    fmt::format("say what to change: lavant compute update {} --max-instances 8, or --set "
                                "KEY=VALUE",
                                printable(name)));
    LAVANT_TRY(Session session, connect(context, choice));
    LAVANT_TRY(const Json there, session.get(session.compute_path(name)));
    root.entries.push_back(
        {"type", {}, Document::string(to_lower(there.get("properties.computeType").text()))});
    LAVANT_TRY(const ComputeSpec spec, check(std::move(root), ComputeText::Changes, options));
    say_warnings(context.console, spec);
    const Json body = wire::to_arm_compute(spec, ComputeText::Changes, session.address().workspace);
    if (options.dry_run) return print_body(body, context.console, output);
    LAVANT_TRY(const Json changed, session.patch(session.compute_path(name), body));
    return print_made(changed, context.console, output);
}

Outcome<Exit> validate_compute(Context& context, const ComputeOptions& options, bool for_azure,
                               const Output& output) {
    LAVANT_TRY(const ComputeSpec spec, load(context, options));
    say_warnings(context.console, spec);
    const std::string type(name_of(spec.kind));
    return print_valid(context.console, output,
                       {.file = options.file,
                        .kind = "compute",
                        .name = spec.name,
                        .what = type + " " + spec.name,
                        .for_azure = for_azure,
                        .findings = spec.beyond_azure,
                        .more = {{"type", type}}});
}

}  // namespace lavant::cli
