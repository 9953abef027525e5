#pragma once
// Options that commands on files and lists of several families share.

#include <CLI/App.hpp>
#include <string>

#include "cli/asset_kind.h"
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

void add_file(CLI::App& command, cli::FileOptions& options);  // -f
// --tags, --set, --dry-run, and which server.
void add_changes(CommandLine& line, CLI::App& command, cli::FileOptions& options);
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
