// `lavant lock …` and `az lock …`

#include <CLI/CLI.hpp>

#include "cli/lock_commands.h"
#include "main/commands/families.h"

namespace lavant {
namespace {

using cli::Context;
using cli::LockedThing;
using cli::Session;

void add_thing(CommandLine& line, CLI::App& command, LockedThing& thing) {
    command.add_option("--compute", thing.compute, "on this compute")->option_text("NAME");
    command.add_option("--network", thing.network, "on this virtual network")->option_text("NAME");
    command.add_flag("--workspace", thing.workspace, "on the whole workspace");
    command.add_option("--scope", thing.scope, "on what has this ARM id")->option_text("ID");
    if (line.manner() != Manner::Az) return;
    command.add_option("--resource-type", thing.resource_type, "with --resource: what it is")
        ->option_text("TYPE");
    command.add_option("--resource,--resource-name", thing.resource, "name of what is locked")
        ->option_text("NAME");
}

// A resource group that is named, and nothing in it, is locked itself.
LockedThing thing_of(CommandLine& line, LockedThing thing) {
    thing.group = !line.choice().workspace.resource_group.empty();
    return thing;
}

void add_name(CLI::App& command, std::string& name) {
    command.add_option("-n,--name", name, "name of the lock")->required()->option_text("NAME");
}

}  // namespace

void add_lock_family(CommandLine& line, CLI::App& parent) {
    const std::string program = line.manner() == Manner::Az ? "az" : "lavant";
    CLI::App& lock = CommandLine::add_family(parent, "lock", "keep things from being deleted or scaled",
                                             program + " lock list");
    auto& made = line.keep<cli::LockWords>();
    CLI::App& create = CommandLine::add(
        lock, "create", "lock a compute, a network, the workspace or a resource group",
        line.manner() == Manner::Az ? "az lock create -n keep --lock-type ReadOnly -g research"
                                    : "lavant lock create -n keep --level CanNotDelete --compute cpu");
    add_name(create, made.name);
    create.add_option("--level,-t,--lock-type", made.level, "CanNotDelete or ReadOnly")
        ->required()
        ->option_text("LEVEL");
    add_thing(line, create, made.thing);
    create.add_option("--notes", made.notes, "why")->option_text("TEXT");
    line.add_output(create);
    line.add_server(create);
    line.runs_with_session(create, [&line, &made](Session& session, Context& context) {
        made.thing = thing_of(line, made.thing);
        return cli::create_lock(session, context.console, made, line.output());
    });

    auto& listed = line.keep<LockedThing>();
    CLI::App& list = CommandLine::add(lock, "list", "the locks there are", program + " lock list");
    add_thing(line, list, listed);
    line.add_output(list);
    line.add_server(list);
    line.runs_with_session(list, [&line, &listed](Session& session, Context& context) {
        return cli::list_locks(session, context.console, thing_of(line, listed), line.output());
    });

    auto& shown = line.keep<cli::LockWords>();
    CLI::App& show = CommandLine::add(lock, "show", "one lock", program + " lock show -n keep");
    add_name(show, shown.name);
    add_thing(line, show, shown.thing);
    line.add_output(show);
    line.add_server(show);
    line.runs_with_session(show, [&line, &shown](Session& session, Context& context) {
        return cli::show_lock(session, context.console, shown.name, thing_of(line, shown.thing),
                              line.output());
    });

    auto& gone = line.keep<cli::LockWords>();
    CLI::App& remove = CommandLine::add(lock, "delete", "take a lock away", program + " lock delete -n keep");
    add_name(remove, gone.name);
    add_thing(line, remove, gone.thing);
    line.add_server(remove);
    line.runs_with_session(remove, [&line, &gone](Session& session, Context& context) {
        return cli::delete_lock(session, context.console, gone.name, thing_of(line, gone.thing));
    });
}

}  // namespace lavant
