#include "cli/ask.h"

#include "base/text.h"

namespace lavant::cli {

Outcome<bool> ask(const Context& context, const std::string& question) {
    if (!context.person.is_there())
        return stop(Exit::Usage, ErrorCode::InvalidArgument,
                    question + " Say yes with --yes: there is no terminal to ask at");
    const auto answer = context.person.ask(question + " [y/N] ");
    const std::string_view said = answer ? trim(*answer) : "";
    return equals_ignoring_case(said, "y") || equals_ignoring_case(said, "yes");
}

}  // namespace lavant::cli
