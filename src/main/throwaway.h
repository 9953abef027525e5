#pragma once
// A server of one's own for a while: `lavant sandbox`, `lavant tour`.

#include <string>
#include <vector>

#include "cli/context.h"
#include "cli/environment.h"

namespace lavant {

class Throwaway {
 public:
    // Starts a server with an empty data folder in the temporary folder.
    [[nodiscard]] static cli::Outcome<Throwaway> start(cli::Context& context);
    Throwaway(Throwaway&& other) noexcept;
    Throwaway& operator=(Throwaway&&) = delete;
    ~Throwaway();  // kills what runs for it and removes it all

    static bool was_interrupted();                         // by SIGINT, SIGTERM or SIGHUP: it is time to end
    const std::string& folder() const { return folder_; }  // its own, with room for files beside the data

    // Runs a program to its end with the variables of the server and this terminal; the program's exit code,
    // 128 + N for one that a signal N ended. `lavant` is this very program there.
    [[nodiscard]] cli::Outcome<int> run(std::vector<std::string> words, const std::string& in_folder) const;

 private:
    static void take_signals();
    Throwaway(cli::Context& context, std::string folder) : context_(context), folder_(std::move(folder)) {}

    cli::Context& context_;
    std::string folder_;
    cli::Variables variables_;
};

}  // namespace lavant
