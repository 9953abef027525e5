// `lavant key …`

#include <CLI/CLI.hpp>

#include "cli/key_commands.h"
#include "main/commands/access_options.h"
#include "main/commands/families.h"

namespace lavant {

using cli::Context;
using cli::Session;

void add_key_options(CLI::App& command, cli::KeyWords& words) {
    command.add_option("--role", words.role, "owner, contributor or reader, on the whole server")
        ->option_text("ROLE");
    command.add_option("--label", words.label, "what it is for")->option_text("TEXT");
    command.add_option("--expires", words.expires, "when it ends: 30d, 2030-01-31, never")
        ->option_text("WHEN");
    const auto limit = [&](const char* name, int& into, const char* about) {
        command.add_option(name, into, about)
            ->check(CLI::NonNegativeNumber.description(""))
            ->option_text("N");
    };
    limit("--requests-per-s", words.requests_per_s, "so many requests a second; 0: the server's limit");
    limit("--upload-mib-per-s", words.upload_mib_per_s,
          "so many MiB uploaded a second; 0: the server's limit");
    limit("--body-mib", words.body_mib, "so many MiB in one body; 0: the server's limit");
}

void add_key_family(CommandLine& line) {
    CLI::App& key = CommandLine::add_family(line.root(), "key", "the secrets with which users come",
                                            "lavant key create ann");

    auto& made = line.keep<cli::KeyWords>();
    CLI::App& create =
        CommandLine::add(key, "create", "make a key for a user, who is made with it if new, and print it",
                         "lavant key create ann --role contributor --expires 90d --label laptop");
    create
        .add_option("-u,--user,user", made.user,
                    "name of the user; one who is not there yet gets the role of the key")
        ->required()
        ->option_text("USER");
    add_key_options(create, made);
    line.add_server(create);
    line.runs_with_session(create, [&made](Session& session, Context& context) {
        return cli::create_key(session, context.console, made);
    });

    auto& whose = line.keep<std::string>();
    CLI::App& list = CommandLine::add(key, "list", "keys, without their secrets", "lavant key list");
    list.add_option("-u,--user", whose, "only this user's")->option_text("USER");
    line.add_output(list);
    line.add_server(list);
    line.runs_with_session(list, [&line, &whose](Session& session, Context& context) {
        return cli::list_keys(session, context.console, whose, line.output());
    });

    auto& changed = line.keep<cli::KeyWords>();
    auto& changed_id = line.keep<std::string>();
    CLI::App& update = CommandLine::add(key, "update", "change what a key may do, and until when",
                                        "lavant key update key-0123456789ab --expires 30d");
    update.add_option("id", changed_id, "as `lavant key list` shows it")->required()->option_text("ID");
    add_key_options(update, changed);
    line.add_server(update);
    line.runs_with_session(update, [&changed, &changed_id](Session& session, Context& context) {
        return cli::update_key(session, context.console, changed_id, changed);
    });

    const auto add_by_id = [&](const char* name, const char* what, auto run) {
        auto& id = line.keep<std::string>();
        CLI::App& command =
            CommandLine::add(key, name, what, std::string("lavant key ") + name + " key-0123456789ab");
        command.add_option("id", id, "as `lavant key list` shows it")->required()->option_text("ID");
        line.add_server(command);
        line.runs_with_session(command, [&id, run](Session& session, Context& context) {
            return run(session, context.console, id);
        });
    };
    add_by_id("rotate", "give a key another secret and print it; the old one is dead", cli::rotate_key);
    add_by_id("revoke", "make a key useless at once", cli::revoke_key);
}

}  // namespace lavant
