// `lavant compute …`

#include <CLI/CLI.hpp>

#include "cli/compute_commands.h"
#include "cli/compute_create.h"
#include "main/commands/families.h"
#include "main/commands/file_flags.h"

namespace lavant {
namespace {

using cli::ComputeOptions;
using cli::Context;
using cli::Session;

// A flag, and the key of a compute file that it stands for.
struct Flag {
    const char* names;
    const char* key;
    const char* about;
    const char* text;
};

constexpr Flag kScale[] = {
    {"--min-instances", "min_instances", "nodes that are always there; a new one has 0", "N"},
    {"--max-instances", "max_instances", "nodes there may be; a new one has 4", "N"},
    {"--idle-time-before-scale-down", "idle_time_before_scale_down",
     "until an idle node is released; a new one has 120", "SECONDS"},
};
constexpr Flag kIdentity[] = {
    {"--identity-type", "identity.type", "system_assigned or user_assigned", "TYPE"},
};
constexpr Flag kWhole[] = {
    {"-t,--type", "type", "amlcompute (a cluster, if left out), computeinstance, ...", "TYPE"},
    {"-s,--size", "size", "of a node: `lavant size list`; Standard_DS3_v2 if left out", "SIZE"},
    {"--tier", "tier", "dedicated or low_priority", "TIER"},
    {"-l,--location", "location", "another region than the workspace's", "REGION"},
    {"--description", "description", "what it is for", "TEXT"},
    {"--vnet-name", "network_settings.vnet_name", "network it is in", "NAME"},
    {"--subnet", "network_settings.subnet", "subnet of that network, or its whole id", "NAME"},
    {"--admin-username", "ssh_settings.admin_username", "who may log in with SSH", "USER"},
    {"--ssh-key-value", "ssh_settings.ssh_key_value", "public key of that user", "KEY"},
    {"--ssh-public-access-enabled", "ssh_public_access_enabled", "true or false; false if left out", "BOOL"},
    {"--enable-node-public-ip", "enable_node_public_ip", "true or false", "BOOL"},
    {"--node-sharing", "node_sharing", "exclusive, or packed: several jobs share a node", "WORD"},
    {"--idle-time-before-shutdown-minutes", "idle_time_before_shutdown_minutes",
     "of an instance: kept and shown; nothing acts on it yet", "MINUTES"},
};
constexpr Flag kAttached[] = {
    {"-t,--type", "type", "kubernetes, virtualmachine, synapsespark, ...", "TYPE"},
    {"--resource-id", "resource_id", "what is attached: /subscriptions/...", "ID"},
    {"--namespace", "namespace", "of a Kubernetes cluster; default if left out", "NAME"},
    {"--description", "description", "what it is for", "TEXT"},
    {"--admin-username", "ssh_settings.admin_username", "who may log in with SSH", "USER"},
    {"--ssh-port", "ssh_settings.ssh_port", "22 if left out", "PORT"},
};

template <std::size_t N>
void add_flags(CLI::App& command, ComputeOptions& options, const Flag (&flags)[N]) {
    for (const Flag& flag : flags)
        command.add_option(flag.names, options.words[flag.key], flag.about)->option_text(flag.text);
}

void add_name_flag(CLI::App& command, ComputeOptions& options) {
    command.add_option("-n,--name", options.words["name"], "3 to 24 letters, digits and '-'")
        ->option_text("NAME");
}

void add_shared(CommandLine& line, CLI::App& command, ComputeOptions& options) {
    command.add_option("--tags", options.tags, "several may follow")
        ->option_text("KEY=VALUE")
        ->allow_extra_args()
        ->take_all();
    command
        .add_option("--user-assigned-identities", options.identities, "resource ids; commas may part them")
        ->option_text("ID")
        ->allow_extra_args()
        ->take_all();
    line.add_settings(command, options.settings, "any value of a compute file: --set tier=low_priority");
    command.add_flag("--dry-run", options.dry_run, "check it and print what would be sent");
    command.add_flag("--no-wait")->group("");  // Nothing is left to wait for.
    line.add_output(command);
    line.add_server(command);
}

void add_file(CLI::App& command, ComputeOptions& options) {
    command.add_option("-f,--file", options.file, "compute file (YAML); - reads standard input")
        ->option_text("FILE");
}

// Passwords are neither sent nor kept; scripts that have one go on working, with a warning.
void ignore_password(CLI::App& command, ComputeOptions& options) {
    command
        .add_option_function<std::string>("--admin-password",
                                          [&options](const std::string&) { options.gave_password = true; })
        ->group("");
}

void add_create(CommandLine& line, CLI::App& compute) {
    auto& options = line.keep<ComputeOptions>();
    options.may_exist = line.manner() == Manner::Az;
    CLI::App& command = CommandLine::add(compute, "create", "make a compute from a file or from flags",
                                         "lavant compute create -f create-cluster.yml\n"
                                         "lavant compute create --name cpu-cluster --max-instances 4");
    add_file(command, options);
    add_name_flag(command, options);
    add_flags(command, options, kWhole);
    add_flags(command, options, kScale);
    add_flags(command, options, kIdentity);
    ignore_password(command, options);
    add_shared(line, command, options);
    line.runs(command, [&line, &options](Context& context) {
        return cli::create_compute(context, line.choice(), options, line.output());
    });
}

void add_update(CommandLine& line, CLI::App& compute) {
    auto& options = line.keep<ComputeOptions>();
    CLI::App& command =
        CommandLine::add(compute, "update", "change what may change: nodes, idle time, identity, tags",
                         "lavant compute update cpu-cluster --max-instances 8");
    add_file(command, options);
    command.add_option("-n,--name,name", options.words["name"], "name of the compute")->option_text("NAME");
    add_flags(command, options, kScale);
    add_flags(command, options, kIdentity);
    command.add_option("--description", options.words["description"], "what it is for")->option_text("TEXT");
    add_shared(line, command, options);
    line.runs(command, [&line, &options](Context& context) {
        return cli::update_compute(context, line.choice(), options, line.output());
    });
}

void add_attach(CommandLine& line, CLI::App& compute) {
    auto& options = line.keep<ComputeOptions>();
    options.may_exist = line.manner() == Manner::Az;
    CLI::App& command =
        CommandLine::add(compute, "attach", "keep a record of a machine that is elsewhere",
                         "lavant compute attach --name k8s --type kubernetes --resource-id ID");
    add_file(command, options);
    add_name_flag(command, options);
    add_flags(command, options, kAttached);
    add_flags(command, options, kIdentity);
    ignore_password(command, options);
    command.add_option_function<std::string>("--ssh-private-key-file", [](const std::string&) {})->group("");
    add_shared(line, command, options);
    line.runs(command, [&line, &options](Context& context) {
        return cli::attach_compute(context, line.choice(), options, line.output());
    });
}

void add_validate(CommandLine& line, CLI::App& compute) {
    auto& options = line.keep<ComputeOptions>();
    auto& for_azure = line.keep<bool>(false);
    CLI::App& command = CommandLine::add(compute, "validate", "check a compute file; needs no server",
                                         "lavant compute validate -f create-cluster.yml");
    command.add_option("-f,--file,file", options.file, "compute file (YAML); - reads standard input")
        ->required()
        ->option_text("FILE");
    line.add_settings(command, options.settings, "change a value of the file: --set max_instances=2");
    add_target(command, for_azure);
    line.add_output(command);
    line.runs(command, [&line, &options, &for_azure](Context& context) {
        return cli::validate_compute(context, options, for_azure, line.output());
    });
}

// A command on one compute.
using ComputeCommand = std::function<cli::Outcome<cli::Exit>(Session&, Context&, const std::string& name)>;
void runs_on_compute(CommandLine& line, CLI::App& command, ComputeCommand what) {
    auto& name = line.keep<std::string>();
    command.add_option("-n,--name,name", name, "name of the compute")->required()->option_text("NAME");
    line.add_server(command);
    line.runs_with_session(command, [&name, what = std::move(what)](Session& session, Context& context) {
        return what(session, context, name);
    });
}

void add_looks(CommandLine& line, CLI::App& compute) {
    CLI::App& show = CommandLine::add(compute, "show", "a compute with its nodes, and why it does not grow",
                                      "lavant compute show cpu-cluster");
    line.add_output(show);
    runs_on_compute(line, show, [&line](Session& session, Context& context, const std::string& name) {
        return cli::show_compute(session, context.console, name, line.output());
    });

    auto& filter = line.keep<cli::ComputeFilter>();
    CLI::App& list = CommandLine::add(compute, "list", "computes of the workspace",
                                      "lavant compute list --type amlcompute");
    list.add_option("-t,--type", filter.type, "only those of this type")->option_text("TYPE");
    list.add_option("-r,--max-results", filter.max, "at most so many")
        ->check(CLI::Range(1, 100'000).description(""))
        ->option_text("N");
    line.add_output(list);
    line.add_server(list);
    line.runs_with_session(list, [&line, &filter](Session& session, Context& context) {
        return cli::list_computes(session, context.console, filter, line.output());
    });

    CLI::App& nodes = CommandLine::add(compute, "list-nodes", "nodes of a cluster, and what runs on them",
                                       "lavant compute list-nodes cpu-cluster");
    line.add_output(nodes);
    runs_on_compute(line, nodes, [&line](Session& session, Context& context, const std::string& name) {
        return cli::list_nodes(session, context.console, name, line.output());
    });
}

void add_removals(CommandLine& line, CLI::App& compute) {
    for (const cli::Removal how : {cli::Removal::Delete, cli::Removal::Detach}) {
        auto& options = line.keep<cli::RemoveOptions>();
        options.how = how;
        const bool detach = how == cli::Removal::Detach;
        CLI::App& command = CommandLine::add(
            compute, detach ? "detach" : "delete",
            detach ? "forget an attached machine"
                   : "remove a compute that no job uses, and give its quota back",
            detach ? "lavant compute detach k8s --yes" : "lavant compute delete cpu-cluster --yes");
        command.add_flag("-y,--yes", options.yes, "do not ask");
        command.add_flag("--no-wait")->group("");
        runs_on_compute(line, command,
                        [&options](Session& session, Context& context, const std::string& name) {
                            options.name = name;
                            return cli::remove_compute(session, context, options);
                        });
    }
}

void add_power(CommandLine& line, CLI::App& compute) {
    constexpr std::pair<const char*, const char*> kVerbs[] = {
        {"start", "start a stopped instance"},
        {"stop", "stop an instance; its settings stay"},
        {"restart", "stop an instance and start it again"}};
    for (const auto& [verb, about] : kVerbs) {
        CLI::App& command =
            CommandLine::add(compute, verb, about, std::string("lavant compute ") + verb + " my-box");
        command.add_flag("--no-wait")->group("");
        runs_on_compute(
            line, command,
            [verb = std::string(verb)](Session& session, Context& context, const std::string& name) {
                return cli::power_compute(session, context.console, name, verb);
            });
    }
}

void add_evict(CommandLine& line, CLI::App& compute) {
    auto& node = line.keep<std::string>();
    CLI::App& command =
        CommandLine::add(compute, "evict", "take a node away as a cloud takes a spot node back",
                         "lavant compute evict cpu-cluster --node node-3");
    command.add_option("--node", node, "which; the first that runs something if left out")
        ->option_text("NODE");
    line.add_output(command);
    runs_on_compute(line, command,
                    [&line, &node](Session& session, Context& context, const std::string& name) {
                        return cli::evict_node(session, context.console, name, node, line.output());
                    });
}

}  // namespace

void add_compute_family(CommandLine& line) {
    CLI::App& compute =
        CommandLine::add_family(line.root(), "compute", "clusters, instances and attached machines",
                                "lavant compute create --name cpu-cluster --max-instances 4");
    add_create(line, compute);
    add_update(line, compute);
    add_looks(line, compute);
    add_validate(line, compute);
    add_removals(line, compute);
    add_power(line, compute);
    add_attach(line, compute);
    if (line.manner() == Manner::Lavant) add_evict(line, compute);
    add_list_sizes(line, compute);
    add_list_usage(line, compute);
}

}  // namespace lavant
