// `lavant backup | restore`

#include "main/backup.h"

#include <CLI/CLI.hpp>

#include "main/commands/families.h"

namespace lavant {
namespace {

using cli::Context;

struct Options {
    std::string file;
    bool yes = false;
};

}  // namespace

void add_backup(CommandLine& line) {
    auto& options = line.keep<Options>();
    CLI::App& save = CommandLine::add(line.root(), "backup",
                                      "everything the local server keeps, in one file, while it runs",
                                      "lavant backup lavant.tar");
    save.add_option("file", options.file, "a file that is not there yet, or a folder")
        ->required()
        ->option_text("FILE");
    save.add_option("--data", line.choice().data, "where everything is kept")->option_text("DIR");
    line.runs(save,
              [&line, &options](Context& context) { return backup(context, line.choice(), options.file); });

    CLI::App& back = CommandLine::add(line.root(), "restore", "a data folder from a backup",
                                      "lavant restore lavant.tar --data DIR");
    back.add_option("file", options.file, "what `lavant backup` wrote")->required()->option_text("FILE");
    back.add_flag("-y,--yes", options.yes, "put aside what is there");
    back.add_option("--data", line.choice().data, "where everything is kept")->option_text("DIR");
    line.runs(back, [&line, &options](Context& context) {
        return restore(context, line.choice(), options.file, options.yes);
    });
}

}  // namespace lavant
