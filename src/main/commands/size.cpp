// `lavant size …`, and `az ml compute list-sizes`

#include "cli/size_commands.h"

#include <CLI/CLI.hpp>

#include "main/commands/families.h"

namespace lavant {
namespace {

using cli::Context;
using cli::Session;

void add_name(CLI::App& command, std::string& into) {
    command.add_option("-n,--name,name", into, "name of the size")->required()->option_text("NAME");
}

void add_list(CommandLine& line, CLI::App& size) {
    auto& filter = line.keep<cli::SizeFilter>();
    CLI::App& command = CommandLine::add(size, "list", "sizes, the cheapest first",
                                         "lavant size list --gpus 1 --location westus --max-price 2");
    command.add_option("-l,--location", filter.location, "only what this region has")->option_text("REGION");
    command.add_option("--vcpus", filter.vcpus, "with at least so many")->option_text("N");
    command.add_option("--memory", filter.memory_gib, "with at least so much, in GiB")->option_text("GIB");
    command.add_option("--gpus", filter.gpus, "with at least so many")->option_text("N");
    command.add_option("--max-price", filter.price_max, "at most so many dollars an hour")
        ->option_text("PRICE");
    command.add_flag("--include-retired", filter.retired, "those that Azure retired, too");
    line.add_output(command);
    line.add_server(command);
    line.runs_with_session(command, [&line, &filter](Session& session, Context& context) {
        return cli::list_sizes(session, context.console, filter, line.output());
    });
}

void add_show(CommandLine& line, CLI::App& size) {
    auto& name = line.keep<std::string>();
    CLI::App& command = CommandLine::add(size, "show", "one size with its figures, price and regions",
                                         "lavant size show Standard_NC4as_T4_v3");
    add_name(command, name);
    line.add_output(command);
    line.add_server(command);
    line.runs_with_session(command, [&line, &name](Session& session, Context& context) {
        return cli::show_size(session, context.console, name, line.output());
    });
}

void add_create(CommandLine& line, CLI::App& size) {
    auto& asked = line.keep<SiteSize>();
    CLI::App& command = CommandLine::add(size, "create", "define a size of your own",
                                         "lavant size create --name rtx4090 --vcpus 16 --memory 64 --gpus 1");
    add_name(command, asked.name);
    command.add_option("--vcpus", asked.vcpus, "1 to 1024")->required()->option_text("N");
    command.add_option("--memory", asked.memory_gib, "in GiB, 0.25 to 65536")->required()->option_text("GIB");
    command.add_option("--gpus", asked.gpus, "0 to 64; 0 if left out")->option_text("N");
    command.add_option("--disk", asked.disk_gib, "temporary disk, in GiB")->option_text("GIB");
    command.add_option("--price", asked.price, "dollars for an hour of a node; 0 if left out")
        ->option_text("PRICE");
    command
        .add_option("--low-priority-price", asked.low_priority_price,
                    "the same at low priority; a fifth of it if left out")
        ->option_text("PRICE");
    command.add_option("--family", asked.family, "what quotas count it under; site if left out")
        ->option_text("FAMILY");
    line.add_output(command);
    line.add_server(command);
    line.runs_with_session(command, [&line, &asked](Session& session, Context& context) {
        return cli::create_size(session, context.console, asked, line.output());
    });
}

void add_delete(CommandLine& line, CLI::App& size) {
    auto& name = line.keep<std::string>();
    CLI::App& command =
        CommandLine::add(size, "delete", "remove a size of your own", "lavant size delete rtx4090");
    add_name(command, name);
    line.add_server(command);
    line.runs_with_session(command, [&name](Session& session, Context& context) {
        return cli::delete_size(session, context.console, name);
    });
}

}  // namespace

void add_size_family(CommandLine& line) {
    CLI::App& size = CommandLine::add_family(line.root(), "size", "what nodes can be like, and what it costs",
                                             "lavant size list --gpus 1");
    add_list(line, size);
    add_show(line, size);
    add_create(line, size);
    add_delete(line, size);
}

void add_list_sizes(CommandLine& line, CLI::App& compute) {
    struct Options {
        std::string location;
        std::string type;
    };
    auto& options = line.keep<Options>();
    CLI::App& command = CommandLine::add(compute, "list-sizes", "sizes that a compute can have",
                                         "lavant compute list-sizes -o table");
    command.add_option("-l,--location", options.location, "of this region; the workspace's if left out")
        ->option_text("REGION");
    command.add_option("--type", options.type, "AmlCompute or ComputeInstance: every size can be both")
        ->check(CLI::IsMember({"AmlCompute", "ComputeInstance"}, CLI::ignore_case).description(""))
        ->option_text("TYPE");
    line.add_output(command);
    line.add_server(command);
    line.runs_with_session(command, [&line, &options](Session& session, Context& context) {
        return cli::list_az_sizes(session, context.console, options.location, line.output());
    });
}

}  // namespace lavant
