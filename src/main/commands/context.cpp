// `lavant login`, `lavant logout`, `lavant context …`

#include <CLI/CLI.hpp>

#include "cli/contexts.h"
#include "cli/key_commands.h"
#include "cli/login.h"
#include "main/commands/families.h"

namespace lavant {
namespace {

using cli::Context;

void add_login(CommandLine& line) {
    struct Device {
        std::string approve;
        std::string deny;
    };
    auto& device = line.keep<Device>();
    auto& options = line.keep<cli::LoginOptions>();
    CLI::App& login = CommandLine::add(line.root(), "login", "use a server of your team from here on",
                                       "lavant login https://gpu-1:8443 --name team\n"
                                       "lavant login --approve BCDF-GHJK");
    CLI::Option* url = login.add_option("url", options.url, "https://HOST:PORT")->option_text("URL");
    CLI::Option* approve =
        login.add_option("--approve", device.approve, "let a program in that showed this code")
            ->option_text("CODE")
            ->excludes(url);
    login.add_option("--deny", device.deny, "or do not")
        ->option_text("CODE")
        ->excludes(url)
        ->excludes(approve);
    login.add_option("--name", options.name, "name of the context; the host's if left out")
        ->option_text("NAME");
    login.add_option("--key-file", options.key_file, "file with the key; - reads standard input")
        ->option_text("FILE");
    login
        .add_option("--fingerprint", options.fingerprint,
                    "of the server's authority, as `lavant status` shows it there")
        ->option_text("SHA256");
    login.add_option("--ca", options.ca_file, "the server's authority (PEM), had by another way")
        ->option_text("FILE");
    login.add_flag("-y,--yes", options.yes,
                   "trust the authority that the server shows; approve without a question");
    line.runs(login, [&line, &options, &device](Context& context) -> cli::Outcome<cli::Exit> {
        const bool approved = !device.approve.empty();
        if (approved || !device.deny.empty()) {
            LAVANT_TRY(cli::Session session, cli::connect(context, line.choice()));
            return cli::answer_device_login(session, context, approved ? device.approve : device.deny,
                                            approved, options.yes);
        }
        if (options.url.empty())
            return cli::stop(cli::Exit::Usage, ErrorCode::InvalidArgument,
                             "say where: lavant login https://HOST:PORT");
        return cli::log_in(context, options);
    });

    auto& name = line.keep<std::string>();
    CLI::App& logout =
        CommandLine::add(line.root(), "logout", "forget the key of a server", "lavant logout team");
    logout.add_option("name", name, "context; the one in use if left out")->option_text("NAME");
    line.runs(logout, [&name](Context& context) { return cli::log_out(context, name); });
}

}  // namespace

void add_context_family(CommandLine& line) {
    add_login(line);
    CLI::App& family = CommandLine::add_family(line.root(), "context", "the servers you logged in to",
                                               "lavant context list");

    CLI::App& list = CommandLine::add(family, "list", "all of them", "lavant context list");
    line.add_output(list);
    line.runs(list, [&line](Context& context) { return cli::show_contexts(context, line.output()); });

    auto& shown = line.keep<std::string>();
    CLI::App& show = CommandLine::add(family, "show", "which server is used, and why", "lavant context show");
    show.add_option("name", shown, "the one in use if left out")->option_text("NAME");
    line.add_output(show);
    line.runs(show,
              [&line, &shown](Context& context) { return cli::show_context(context, shown, line.output()); });

    auto& used = line.keep<std::string>();
    CLI::App& use = CommandLine::add(family, "use", "switch to another; local is the server of this machine",
                                     "lavant context use local");
    use.add_option("name", used, "as `lavant context list` shows it")->required()->option_text("NAME");
    line.runs(use, [&used](Context& context) { return cli::use_context(context, used); });

    auto& gone = line.keep<std::string>();
    CLI::App& remove = CommandLine::add(family, "delete", "forget a server, its key and its authority",
                                        "lavant context delete team");
    remove.add_option("name", gone, "as `lavant context list` shows it")->required()->option_text("NAME");
    line.runs(remove, [&gone](Context& context) { return cli::delete_context(context, gone); });
}

}  // namespace lavant
