#pragma once
// What every family's `create` and `validate` take: a file, flags that say the same, and --set.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cli/context.h"
#include "cli/output.h"
#include "core/spec/finding.h"
#include "wire/spec_file.h"

namespace lavant::cli {

struct FileOptions {
    std::string file;                          // "": none, "-": standard input
    std::map<std::string, std::string> words;  // what flags said, by the key of the file; "": nothing
    std::vector<std::string> tags;             // KEY=VALUE
    std::vector<std::string> settings;         // --set
    bool dry_run = false;                      // say what would be sent
    bool for_azure = false;                    // of validate: what Azure would refuse or ignore, too
};

// What --tags said, as --set would have said it.
[[nodiscard]] Outcome<std::vector<std::string>> settings_of_tags(const std::vector<std::string>& tags);

// The file with what flags said put over it, then what --set said; `what` for messages: "a data file". Paths
// that flags name (`path_keys`) begin in the current folder, whatever the file's is.
[[nodiscard]] Outcome<wire::SpecFile> read_file_options(const Context& context, const FileOptions& options,
                                                        const std::string& what,
                                                        const std::vector<std::string>& path_keys);
// Whatever is wrong with a file is the user's to put right: exit 2, and which file it is.
template <class T>
Outcome<T> users_to_mend(Result<T> parsed, const std::string& label) {
    if (parsed) return std::move(*parsed);
    Error error = std::move(parsed).error();
    if (!label.empty()) error = in(label)(std::move(error));
    return tl::make_unexpected(Failure(Exit::Usage, std::move(error)));
}
void say_warnings(const Console& console, const std::vector<std::string>& warnings);

// What `validate` says of a file that is fine: "FILE is valid: data titanic", or the same document for every
// family. What Azure would refuse of it ends with 2.
struct Validated {
    std::string file;  // as the user named it
    std::string kind;  // the family's word
    std::string name;  // "": the file has none
    std::string what;  // in a sentence: "data titanic:1"
    bool for_azure = false;
    std::vector<spec::Finding> findings;        // there
    std::vector<wire::Json::Member> more = {};  // of this family alone
};
[[nodiscard]] Outcome<Exit> print_valid(const Console& console, const Output& output, const Validated& valid);
// A dry run prints the request's body and sends nothing.
[[nodiscard]] Outcome<Exit> print_body(const wire::Json& body, const Console& console, const Output& output);

}  // namespace lavant::cli
