#pragma once
// Where a command prints, and how text is made to fit there. Results go to `out`, everything said about them
// to `err`.

#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/outcome.h"

namespace lavant::cli {

enum class Colour { None, Green, Red, Yellow, Blue, Dim };

struct Console {
    std::ostream& out;
    std::ostream& err;
    int width = 80;
    bool colours = false;
    bool out_is_beside_err =
        false;  // on the same terminal, or in the same file: what stands there is seen already
    bool err_is_terminal = false;

    std::string painted(std::string_view text, Colour colour) const;
    // Lines that fit the terminal behind `err`; elsewhere as they are.
    std::string folded(std::string_view text) const;
    // One remark on `err`, folded.
    void note(std::string_view text, Colour colour = Colour::None) const;
};

Colour colour_of_status(std::string_view status);

// Columns as wide as their longest cell; when that does not fit the width, cells are cut with "…", the widest
// column first, names only when nothing else is left to cut. The last column is not padded.
enum class Cut { Never, First, Last };
struct Column {
    std::string title;
    Cut cut = Cut::Never;
};
std::string render_table(const std::vector<Column>& columns,
                         const std::vector<std::vector<std::string>>& rows, int width);

// "key    value" lines; a long value goes on, indented, on the next lines.
std::string render_fields(const std::vector<std::pair<std::string, std::string>>& fields, int width);

std::size_t columns_of(std::string_view text);                   // terminal columns of UTF-8 text
std::string cut_to(std::string_view text, std::size_t columns);  // with "…" at the end if it had to be cut
// Control characters (which could steer a terminal) become '?'; tabs and line ends become blanks.
std::string printable(std::string_view text);

// "2026-01-02 03:04:05"; the zone is UTC, which who prints it has to say.
std::string short_time(std::string_view rfc3339);

// Prints the error, one line per problem, and returns the exit code.
int report(const Failure& failure, const Console& console);

}  // namespace lavant::cli
