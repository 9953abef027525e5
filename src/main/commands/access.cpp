// `lavant user | group | service-principal | role …`, `lavant whoami`, `lavant audit`

#include <CLI/CLI.hpp>

#include "cli/access_commands.h"
#include "main/commands/access_options.h"
#include "main/commands/families.h"

namespace lavant {
namespace {

using cli::Context;
using cli::PrincipalKind;
using cli::PrincipalWords;
using cli::RoleWords;
using cli::Session;

struct Family {
    PrincipalKind kind;
    std::string word;
    std::string what;
    std::string example;
};

void add_name(CLI::App& command, std::string& name, const std::string& what) {
    command.add_option("-n,--name,name", name, what)->required()->option_text("NAME");
}

// list, show and delete, which are the same for all.
void add_common(CommandLine& line, CLI::App& family, const Family& of) {
    CLI::App& list = CommandLine::add(family, "list", "all of them", "lavant " + of.word + " list");
    line.add_output(list);
    line.add_server(list);
    line.runs_with_session(list, [&line, kind = of.kind](Session& session, Context& context) {
        return cli::list_principals(session, context.console, kind, line.output());
    });

    auto& shown = line.keep<PrincipalWords>({.kind = of.kind, .name = {}, .display_name = {}});
    CLI::App& show =
        CommandLine::add(family, "show", "one of them", "lavant " + of.word + " show " + of.example);
    add_name(show, shown.name, "its name");
    line.add_output(show);
    line.add_server(show);
    line.runs_with_session(show, [&line, &shown](Session& session, Context& context) {
        return cli::show_principal(session, context.console, shown, line.output());
    });

    auto& gone = line.keep<PrincipalWords>({.kind = of.kind, .name = {}, .display_name = {}});
    const bool group = of.kind == PrincipalKind::Group;
    CLI::App& remove = CommandLine::add(
        family, "delete", group ? "and the roles it had; its members stay" : "and its keys and roles",
        "lavant " + of.word + " delete " + of.example);
    add_name(remove, gone.name, "its name");
    line.add_server(remove);
    line.runs_with_session(remove, [&gone](Session& session, Context& context) {
        return cli::delete_principal(session, context.console, gone);
    });
}

void add_create(CommandLine& line, CLI::App& family, const Family& of) {
    auto& made = line.keep<PrincipalWords>({.kind = of.kind, .name = {}, .display_name = {}});
    CLI::App& create =
        CommandLine::add(family, "create", of.what, "lavant " + of.word + " create " + of.example);
    add_name(create, made.name, "letters, digits and . _ - @ +");
    if (of.kind != PrincipalKind::Group)
        create.add_option("--display-name", made.display_name, "how people call it")->option_text("TEXT");
    line.add_output(create);
    line.add_server(create);
    line.runs_with_session(create, [&line, &made](Session& session, Context& context) {
        return cli::create_principal(session, context.console, made, line.output());
    });
}

void add_members(CommandLine& line, CLI::App& family) {
    struct Members {
        std::string group;
        std::vector<std::string> members;
    };
    for (const bool join : {true, false}) {
        auto& words = line.keep<Members>();
        CLI::App& command =
            CommandLine::add(family, join ? "add" : "remove", join ? "put members in" : "take members out",
                             std::string("lavant group ") + (join ? "add" : "remove") + " research ann bob");
        command.add_option("group", words.group, "name of the group")->required()->option_text("GROUP");
        command.add_option("members", words.members, "users or service principals")
            ->required()
            ->option_text("NAME...");
        line.add_server(command);
        line.runs_with_session(command, [&words, join](Session& session, Context& context) {
            return cli::change_members(session, context.console, words.group, words.members, join);
        });
    }
}

void add_service_principals(CommandLine& line, const Family& of) {
    CLI::App& family = CommandLine::add_family(line.root(), of.word, "programs that come by themselves",
                                               "lavant service-principal create ci");
    struct Words {
        PrincipalWords who{.kind = PrincipalKind::ServicePrincipal, .name = {}, .display_name = {}};
        cli::KeyWords key;
    };
    auto& made = line.keep<Words>();
    CLI::App& create = CommandLine::add(family, "create", of.what, "lavant service-principal create ci");
    add_name(create, made.who.name, "letters, digits and . _ - @ +");
    create.add_option("--display-name", made.who.display_name, "how people call it")->option_text("TEXT");
    add_key_options(create, made.key);
    line.add_output(create);
    line.add_server(create);
    line.runs_with_session(create, [&line, &made](Session& session, Context& context) {
        return cli::create_service_principal(session, context.console, made.who, made.key, line.output());
    });
    add_common(line, family, of);
}

void add_place(CLI::App& command, RoleWords& words) {
    command.add_flag("--server", words.server, "on the whole server; on the workspace if nothing is said");
    command.add_option("--compute", words.compute, "on this compute alone")->option_text("NAME");
    command.add_option("--datastore", words.datastore, "on this datastore alone")->option_text("NAME");
    command.add_option("--resource", words.resource, "on this resource alone, as models/m1")
        ->option_text("KIND/NAME");
}

void add_roles(CommandLine& line) {
    CLI::App& family =
        CommandLine::add_family(line.root(), "role", "who may do what", "lavant role assign contributor ann");
    auto& given = line.keep<RoleWords>();
    CLI::App& assign = CommandLine::add(family, "assign", "give a role, or a right to a datastore's files",
                                        "lavant role assign contributor ann\n"
                                        "lavant role assign reader group:research --server\n"
                                        "lavant role assign write ci --datastore team");
    assign
        .add_option("role", given.role, "owner, contributor, reader; with --datastore also read, write, none")
        ->required()
        ->option_text("ROLE");
    assign.add_option("who", given.who, "a user, a service principal, group:NAME or everyone")
        ->required()
        ->option_text("WHO");
    add_place(assign, given);
    line.add_server(assign);
    line.runs_with_session(assign, [&given](Session& session, Context& context) {
        return cli::assign_role(session, context.console, given);
    });

    auto& gone = line.keep<RoleWords>();
    CLI::App& revoke = CommandLine::add(family, "revoke", "take it away, in the words it was given with",
                                        "lavant role revoke contributor ann");
    revoke.add_option("role", gone.role, "the role, or the id that `lavant role list` shows")
        ->required()
        ->option_text("ROLE");
    revoke.add_option("who", gone.who, "who had it")->option_text("WHO");
    add_place(revoke, gone);
    line.add_server(revoke);
    line.runs_with_session(revoke, [&gone](Session& session, Context& context) {
        return cli::revoke_role(session, context.console, gone);
    });

    auto& listed = line.keep<RoleWords>();
    CLI::App& list = CommandLine::add(family, "list", "the roles that count here", "lavant role list");
    list.add_option("who", listed.who, "only those of")->option_text("WHO");
    list.add_flag("--server", listed.server, "only those on the whole server");
    line.add_output(list);
    line.add_server(list);
    line.runs_with_session(list, [&line, &listed](Session& session, Context& context) {
        return cli::list_roles(session, context.console, listed, line.output());
    });
}

void add_audit(CommandLine& line) {
    auto& words = line.keep<cli::AuditWords>();
    CLI::App& audit = CommandLine::add(line.root(), "audit", "who changed what, and who was refused",
                                       "lavant audit --since 7d --user ann\nlavant audit --status 403");
    audit.add_option("--user", words.user, "only what this user did")->option_text("USER");
    audit.add_option("--key", words.key, "only what came with this key")->option_text("ID");
    audit.add_option("--method", words.method, "PUT, POST, PATCH or DELETE")->option_text("METHOD");
    audit.add_option("--path", words.path, "only paths that begin so")->option_text("PATH");
    audit.add_option("--status", words.status, "403, or 4 for all from 400 to 499")->option_text("STATUS");
    audit.add_option("--since", words.since, "7d, 12h, a day or a time")->option_text("WHEN");
    audit.add_option("--until", words.until, "likewise")->option_text("WHEN");
    audit.add_option("-r,--max-results", words.max, "the newest; 50 if left out")
        ->check(CLI::Range(1, 100'000).description(""))
        ->option_text("COUNT");
    line.add_output(audit);
    line.add_server(audit);
    line.runs_with_session(audit, [&line, &words](Session& session, Context& context) {
        return cli::show_audit(session, context.console, words, line.output());
    });
}

}  // namespace

void add_access_families(CommandLine& line) {
    const Family users{PrincipalKind::User, "user", "make a user", "ann"};
    CLI::App& user = CommandLine::add_family(line.root(), "user", "the people who use the server",
                                             "lavant user create ann");
    add_create(line, user, users);
    add_common(line, user, users);

    const Family groups{PrincipalKind::Group, "group", "make a group", "research"};
    CLI::App& group = CommandLine::add_family(line.root(), "group", "users who have roles together",
                                              "lavant group add research ann bob");
    add_create(line, group, groups);
    add_members(line, group);
    add_common(line, group, groups);

    add_service_principals(line, {PrincipalKind::ServicePrincipal, "service-principal",
                                  "make one with a secret, as Azure's clients want it", "ci"});
    add_roles(line);

    CLI::App& whoami =
        CommandLine::add(line.root(), "whoami", "who you are here, and your role", "lavant whoami");
    line.add_output(whoami);
    line.add_server(whoami);
    line.runs_with_session(whoami, [&line](Session& session, Context& context) {
        return cli::show_me(session, context.console, line.output());
    });
    add_audit(line);
}

}  // namespace lavant
