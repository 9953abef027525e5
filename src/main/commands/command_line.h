#pragma once
// The command line: one tree of commands with their options, an example each, and what they run. A family of
// commands has a file of its own beside this one; families.h lists them.

#include <CLI/App.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/connect.h"
#include "cli/context.h"
#include "cli/job_create.h"
#include "cli/local_server.h"
#include "cli/output.h"

namespace lavant {

using Command = std::function<cli::Outcome<cli::Exit>(cli::Context&)>;
using SessionCommand = std::function<cli::Outcome<cli::Exit>(cli::Session&, cli::Context&)>;

// `az ml …` leads to the same commands with az's manners: JSON unless told otherwise.
enum class Manner { Lavant, Az };

class CommandLine {
 public:
    explicit CommandLine(Manner manner);

    CLI::App& root() { return *top_; }  // where families add themselves
    Manner manner() const { return manner_; }
    // `example` is shown in the help and in the manual, one or more whole lines.
    static CLI::App& add_family(CLI::App& parent, const std::string& name, const std::string& what,
                                const std::string& example);
    static CLI::App& add(CLI::App& parent, const std::string& name, const std::string& what,
                         const std::string& example);
    // Options of a command, alive as long as this.
    template <class Options>
    Options& keep(Options initial = {}) {
        auto kept = std::make_shared<Options>(std::move(initial));
        kept_.push_back(kept);
        return *kept;
    }

    // Options that many commands share; what they say is in `choice` and `output`.
    void add_data(CLI::App& command);    // which local server
    void add_server(CLI::App& command);  // which server, which workspace
    void add_output(CLI::App& command);  // -o, --query
    // --set; as in az, several values may follow one --set there.
    CLI::Option* add_settings(CLI::App& command, std::vector<std::string>& into, const std::string& about);
    void add_submit_options(CLI::App& command, cli::SubmitOptions& options);
    // Words after `--` are a command of the user's: they are not read as options.
    static void takes_command(CLI::App& command);
    const std::vector<std::string>& trailing() const { return trailing_; }
    cli::ServerChoice& choice() { return choice_; }
    cli::Output& output() { return output_; }
    // What counts where -o is not given. az has a default of its own.
    void set_default_format(const std::string& word);
    // The command that was parsed works where the configuration is not valid: it repairs or explains it.
    bool bears_bad_config() const { return bears_bad_config_; }
    void runs_with_bad_config(CLI::App& command, Command what);

    void runs(CLI::App& command, Command what);
    // Connected first, then run.
    void runs_with_session(CLI::App& command, SessionCommand what);

    // Every az command takes these; called when the tree is whole.
    void add_az_options();

    // What the words ask for. Empty: it was answered (help) or refused already, with `exit_code`.
    Command parse(const std::vector<std::string>& given, int& exit_code);

 private:
    std::vector<std::string> take_trailing(std::vector<std::string> words);

    CLI::App app_;
    CLI::App* top_ = &app_;
    Manner manner_;
    cli::ServerChoice choice_;
    cli::Output output_;
    std::string format_;
    std::string query_;
    Command chosen_;
    std::vector<std::string> trailing_;
    bool bears_bad_config_ = false;
    std::vector<std::shared_ptr<void>> kept_;
};

}  // namespace lavant
