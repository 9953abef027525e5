// `lavant az login | account | configure | config | extension | version`: what scripts do around `az ml`.

#include "cli/az.h"

#include <CLI/CLI.hpp>

#include "main/commands/families.h"
#include "main/version.h"

namespace lavant {
namespace {

using cli::Context;
using cli::Exit;
using cli::Outcome;
using cli::Session;

// Options that say how to log in on Azure: taken, and of no meaning here.
void ignore(CLI::App& command, const std::vector<std::string>& flags,
            const std::vector<std::string>& options) {
    for (const std::string& flag : flags) command.add_flag(flag)->group("");
    for (const std::string& option : options)
        command.add_option_function<std::vector<std::string>>(option, [](const std::vector<std::string>&) {})
            ->group("");
}

void add_account(CommandLine& line, CLI::App& az) {
    CLI::App& login = CommandLine::add(az, "login", "say who you are here", "az login");
    ignore(login, {"--identity", "--service-principal", "--use-device-code", "--allow-no-subscriptions"},
           {"-u,--username", "-p,--password", "-t,--tenant", "--federated-token"});
    line.add_output(login);
    line.add_server(login);
    line.runs_with_session(login, [&line](Session& session, Context& context) {
        return cli::show_account(session, context.console, true, line.output());
    });
    CLI::App& logout = CommandLine::add(az, "logout", "nothing to do here", "az logout");
    line.runs(logout, [](Context&) -> Outcome<Exit> { return Exit::Completed; });

    CLI::App& account = CommandLine::add_family(az, "account", "the subscription in use",
                                                "az account show --query id -o tsv");
    for (const bool as_list : {false, true}) {
        const std::string verb = as_list ? "list" : "show";
        CLI::App& show =
            CommandLine::add(account, verb, "who you are, and where", "az account " + verb + " -o json");
        line.add_output(show);
        line.add_server(show);
        line.runs_with_session(show, [&line, as_list](Session& session, Context& context) {
            return cli::show_account(session, context.console, as_list, line.output());
        });
    }
    auto& subscription = line.keep<std::string>();
    CLI::App& set =
        CommandLine::add(account, "set", "choose the subscription", "az account set -s SUBSCRIPTION");
    set.add_option("-s,--subscription,-n,--name", subscription, "its id")->required()->option_text("ID");
    line.runs(set, [&subscription](Context& context) {
        return cli::set_az_defaults(context, {"subscription=" + subscription});
    });
    auto& resource = line.keep<std::string>("https://management.azure.com/");
    CLI::App& token = CommandLine::add(account, "get-access-token", "a token for REST",
                                       "az account get-access-token --query accessToken -o tsv");
    token.add_option("--resource,--scope", resource, "what it is for")->option_text("URL");
    ignore(token, {}, {"--resource-type", "-t,--tenant"});
    line.add_output(token);
    line.add_server(token);
    line.runs_with_session(token, [&line, &resource](Session& session, Context& context) {
        return cli::print_access_token(session, context.console, resource, line.output());
    });
}

void add_defaults(CommandLine& line, CLI::App& az) {
    struct Options {
        std::vector<std::string> pairs;
        bool list = false;
    };
    auto& options = line.keep<Options>();
    CLI::App& configure = CommandLine::add(az, "configure", "names that need not be said each time",
                                           "az configure --defaults group=research workspace=vision");
    configure.add_option("-d,--defaults", options.pairs, "group=NAME, workspace=NAME")
        ->option_text("NAME=VALUE");
    configure.add_flag("-l,--list-defaults", options.list, "what is set");
    line.add_output(configure);
    line.runs(configure, [&line, &options](Context& context) {
        return options.list ? cli::list_az_defaults(context, line.output())
                            : cli::set_az_defaults(context, options.pairs);
    });

    auto& pairs = line.keep<std::vector<std::string>>();
    CLI::App& config = CommandLine::add_family(az, "config", "the same in its newer spelling",
                                               "az config set defaults.group=research");
    CLI::App& set = CommandLine::add(config, "set", "set a default", "az config set defaults.group=research");
    set.add_option("pairs", pairs, "defaults.group=NAME")->required()->option_text("NAME=VALUE");
    line.runs(set, [&pairs](Context& context) { return cli::set_az_defaults(context, pairs); });
}

void add_extension(CommandLine& line, CLI::App& az) {
    CLI::App& extension =
        CommandLine::add_family(az, "extension", "Azure ML is built in", "az extension add -n ml");
    for (const char* verb : {"add", "update", "remove", "show", "list"}) {
        auto& name = line.keep<std::string>();
        CLI::App& command = CommandLine::add(extension, verb, "answered; nothing is installed or removed",
                                             std::string("az extension ") + verb + " -n ml");
        command.add_option("-n,--name", name, "ml")->option_text("NAME");
        ignore(command, {"-y,--yes", "--upgrade", "--allow-preview"}, {"--version", "-s,--source"});
        line.add_output(command);
        const bool print_it = std::string_view(verb) == "show" || std::string_view(verb) == "list";
        line.runs(command, [&line, &name, print_it](Context& context) {
            return cli::answer_extension(context, name, line.output(), print_it);
        });
    }
}

}  // namespace

void add_az_family(CommandLine& line) {
    CLI::App& az = *line.root().get_parent();
    add_account(line, az);
    add_defaults(line, az);
    add_extension(line, az);
    CLI::App& version = CommandLine::add(az, "version", "what answers here", "az version");
    line.add_output(version);
    line.runs(version, [&line](Context& context) -> Outcome<Exit> {
        const wire::Json about = wire::Json::object({{"azure-cli", kVersion},
                                                     {"lavant", kVersion},
                                                     {"extensions", wire::Json::object({{"ml", kVersion}})}});
        LAVANT_TRY_VOID(print(about, line.output(), context.console, [&] { return about.pretty() + "\n"; }));
        return Exit::Completed;
    });
}

}  // namespace lavant
