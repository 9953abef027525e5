// `lavant key …`

#include <CLI/CLI.hpp>

#include "cli/server_commands.h"
#include "main/commands/families.h"

namespace lavant {

using cli::Context;
using cli::Session;

void add_key_family(CommandLine& line) {
    CLI::App& key =
        CommandLine::add_family(line.root(), "key", "who may use the server", "lavant key create ann");

    auto& user = line.keep<std::string>();
    CLI::App& create =
        CommandLine::add(key, "create", "make a key for a user and print it", "lavant key create ann");
    create.add_option("-u,--user,user", user, "name of the user")->required()->option_text("USER");
    line.add_server(create);
    line.runs_with_session(create, [&user](Session& session, Context& context) {
        return cli::create_key(session, context.console, user);
    });

    CLI::App& list = CommandLine::add(key, "list", "keys, without their secrets", "lavant key list");
    line.add_output(list);
    line.add_server(list);
    line.runs_with_session(list, [&line](Session& session, Context& context) {
        return cli::list_keys(session, context.console, line.output());
    });

    auto& id = line.keep<std::string>();
    CLI::App& revoke =
        CommandLine::add(key, "revoke", "make a key useless at once", "lavant key revoke key-0123456789ab");
    revoke.add_option("id", id, "as `lavant key list` shows it")->required()->option_text("ID");
    line.add_server(revoke);
    line.runs_with_session(revoke, [&id](Session& session, Context& context) {
        return cli::revoke_key(session, context.console, id);
    });
}

}  // namespace lavant
