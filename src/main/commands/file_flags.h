#pragma once
// Options that commands on files and lists of several families share.

#include <CLI/App.hpp>
#include <functional>
#include <string>

#include "cli/asset_kind.h"
#include "cli/connect.h"
#include "cli/file_options.h"
#include "main/commands/command_line.h"

namespace lavant {

// A flag, and the key of the file that it stands for.
struct FileFlag {
    const char* names;
    const char* key;
    const char* about;
    const char* text;
};

void add_flag_options(CLI::App& command, cli::FileOptions& options, const FileFlag* flags, std::size_t count);
template <std::size_t N>
void add_flags(CLI::App& command, cli::FileOptions& options, const FileFlag (&flags)[N]) {
    add_flag_options(command, options, flags, N);
}

// A command on one resource, which the user names.
using NamedCommand =
    std::function<cli::Outcome<cli::Exit>(cli::Session&, cli::Context&, const std::string& name)>;
void runs_on_named(CommandLine& line, CLI::App& command, const std::string& noun, NamedCommand what);

// `create` and `validate` of a family whose resources have one file each.
struct FileFamily {
    const char* about;           // of create
    const char* create_example;  // with a line for every way
    const char* validate_example;
    cli::Outcome<cli::Exit> (*create)(cli::Context&, const cli::ServerChoice&, const cli::FileOptions&,
                                      const cli::Output&);
    cli::Outcome<cli::Exit> (*validate)(cli::Context&, const cli::FileOptions&, const cli::Output&);
};
void add_file_makers(CommandLine& line, CLI::App& parent, const FileFamily& family, const FileFlag* flags,
                     std::size_t count);
template <std::size_t N>
void add_makers(CommandLine& line, CLI::App& parent, const FileFamily& family, const FileFlag (&flags)[N]) {
    add_file_makers(line, parent, family, flags, N);
}

void add_file(CLI::App& command, cli::FileOptions& options);  // -f
// --tags, --set, --dry-run, and which server.
void add_changes(CommandLine& line, CLI::App& command, cli::FileOptions& options);
void add_target(CLI::App& command, bool& for_azure);  // --target azure
// Of `validate`: the file must be there.
void add_validated_file(CommandLine& line, CLI::App& command, cli::FileOptions& options);

struct ListFlags {
    std::string name;
    bool archived_only = false;
    bool include_archived = false;
    int max = 0;
    cli::AssetFilter read() const;
};
void add_max(CLI::App& command, int& max);  // -r, --max-results
void add_list_flags(CLI::App& command, ListFlags& flags);

}  // namespace lavant
