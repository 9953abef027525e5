// `lavant quota …`, and `az ml compute list-usage`

#include <CLI/CLI.hpp>

#include "cli/quota_commands.h"
#include "main/commands/families.h"

namespace lavant {
namespace {

using cli::Context;
using cli::Session;

void add_place(CLI::App& command, cli::QuotaWords& words) {
    command.add_option("--family", words.family, "as in the list, or 'total' for all of the location")
        ->required()
        ->option_text("FAMILY");
    command.add_option("--cores", words.cores, "how many vCPUs in all")->required()->option_text("N");
    command.add_option("-l,--location", words.location, "local if left out")->option_text("LOCATION");
    command.add_option("--tier", words.tier, "dedicated or low_priority; dedicated if left out")
        ->option_text("TIER");
}

void add_list(CommandLine& line, CLI::App& quota) {
    auto& options = line.keep<cli::QuotaListOptions>();
    CLI::App& list = CommandLine::add(quota, "list", "limits, and what is used of them",
                                      "lavant quota list\nlavant quota list --family standardDSv2Family");
    list.add_option("-l,--location", options.location, "only this one")->option_text("LOCATION");
    list.add_option("--family", options.family, "only this one; 'total': all of the location")
        ->option_text("FAMILY");
    list.add_flag("--used", options.used, "only those of which something is used");
    list.add_flag("--all", options.all, "in the table also those that are as they are by default");
    line.add_output(list);
    line.add_server(list);
    line.runs_with_session(list, [&line, &options](Session& session, Context& context) {
        return cli::list_quotas(session, context.console, options, line.output());
    });
}

void add_set(CommandLine& line, CLI::App& quota) {
    auto& words = line.keep<cli::QuotaWords>();
    CLI::App& set = CommandLine::add(quota, "set", "change a limit; for owners",
                                     "lavant quota set --family standardDSv2Family --cores 100");
    add_place(set, words);
    set.add_option("--level", words.level,
                   "subscription or workspace, where --cores unlimited is possible; subscription if left out")
        ->option_text("LEVEL");
    line.add_output(set);
    line.add_server(set);
    line.runs_with_session(set, [&line, &words](Session& session, Context& context) {
        return cli::set_quota(session, context.console, words, line.output());
    });
}

void add_requests(CommandLine& line, CLI::App& quota) {
    auto& words = line.keep<cli::QuotaWords>();
    CLI::App& request = CommandLine::add(quota, "request", "ask the owners for more",
                                         "lavant quota request --family total --cores 12000 --reason sweep");
    add_place(request, words);
    request.add_option("--reason", words.reason, "what for")->option_text("TEXT");
    line.add_output(request);
    line.add_server(request);
    line.runs_with_session(request, [&line, &words](Session& session, Context& context) {
        return cli::request_quota(session, context.console, words, line.output());
    });

    auto& all = line.keep<bool>();
    CLI::App& requests =
        CommandLine::add(quota, "requests", "what was asked for", "lavant quota requests --all");
    requests.add_flag("--all", all, "also those that are granted or denied");
    line.add_output(requests);
    line.add_server(requests);
    line.runs_with_session(requests, [&line, &all](Session& session, Context& context) {
        return cli::list_quota_requests(session, context.console, all, line.output());
    });
}

void add_decisions(CommandLine& line, CLI::App& quota) {
    struct Options {
        std::string id;
        std::string cores;
    };
    const auto add_id = [](CLI::App& command, std::string& into) {
        command.add_option("id", into, "as `lavant quota requests` shows it")->required()->option_text("ID");
    };
    auto& given = line.keep<Options>();
    CLI::App& grant = CommandLine::add(quota, "grant", "give what was asked for; for owners",
                                       "lavant quota grant qr-0123456789");
    add_id(grant, given.id);
    grant.add_option("--cores", given.cores, "another number than was asked for")->option_text("N");
    line.add_output(grant);
    line.add_server(grant);
    line.runs_with_session(grant, [&line, &given](Session& session, Context& context) {
        return cli::grant_quota(session, context.console, given.id, given.cores, line.output());
    });

    auto& refused = line.keep<std::string>();
    CLI::App& deny = CommandLine::add(quota, "deny", "refuse what was asked for; for owners",
                                      "lavant quota deny qr-0123456789");
    add_id(deny, refused);
    line.add_output(deny);
    line.add_server(deny);
    line.runs_with_session(deny, [&line, &refused](Session& session, Context& context) {
        return cli::deny_quota(session, context.console, refused, line.output());
    });
}

}  // namespace

void add_quota_family(CommandLine& line) {
    CLI::App& quota =
        CommandLine::add_family(line.root(), "quota", "how many cores may be used", "lavant quota list");
    add_list(line, quota);
    add_set(line, quota);
    add_requests(line, quota);
    add_decisions(line, quota);
}

void add_list_usage(CommandLine& line, CLI::App& compute) {
    auto& location = line.keep<std::string>();
    CLI::App& list = CommandLine::add(compute, "list-usage", "limits by the names Azure has for them",
                                      "lavant compute list-usage -o table");
    list.add_option("-l,--location", location, "local if left out")->option_text("LOCATION");
    line.add_output(list);
    line.add_server(list);
    line.runs_with_session(list, [&line, &location](Session& session, Context& context) {
        return cli::list_usages(session, context.console, location, line.output());
    });
}

}  // namespace lavant
