#include "cli/doctor.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "cli/local_server.h"

namespace lavant::cli {
namespace {

using ports::HostCheck;
using wire::Json;

std::string_view word_of(HostCheck::Mark mark) {
    switch (mark) {
        case HostCheck::Mark::Ok:
            return "ok";
        case HostCheck::Mark::Off:
            return "off";
        case HostCheck::Mark::Bad:
            return "bad";
    }
    CHECK(false, "every mark has a word");
}

Colour colour_of(HostCheck::Mark mark) {
    return mark == HostCheck::Mark::Ok    ? Colour::Green
           : mark == HostCheck::Mark::Off ? Colour::Yellow
                                          : Colour::Red;
}

HostCheck check_config(const Context& context) {
    if (!context.config_error) return {"configuration", HostCheck::Mark::Ok, "fine", "", ""};
    return {"configuration", HostCheck::Mark::Bad, context.config_error->error.message,
            "no command works until it is corrected", "lavant config path"};
}

std::string rendered(const std::vector<HostCheck>& checks, const Console& console) {
    std::size_t left = 0;
    for (const HostCheck& check : checks) left = std::max(left, columns_of(check.name));
    std::string out;
    for (const HostCheck& check : checks) {
        const std::string word(word_of(check.mark));
        out += console.painted(word, colour_of(check.mark)) + std::string(5 - word.size(), ' ');
        out +=
            check.name + std::string(left - columns_of(check.name) + 2, ' ') + printable(check.found) + "\n";
        const std::string indent(left + 7, ' ');
        if (!check.effect.empty()) out += indent + printable(check.effect) + "\n";
        if (!check.remedy.empty()) out += indent + "try: " + printable(check.remedy) + "\n";
    }
    return out;
}

}  // namespace

Outcome<Exit> run_doctor(Context& context, const ServerChoice& flags, const Output& output) {
    LAVANT_TRY(const std::string data, data_folder(context, flags.data));
    std::vector<HostCheck> checks{check_config(context)};
    std::ranges::move(context.check_host(data), std::back_inserter(checks));
    Json document = Json::array();
    for (const HostCheck& check : checks) {
        Json one =
            Json::object({{"name", check.name}, {"mark", word_of(check.mark)}, {"found", check.found}});
        if (!check.effect.empty()) one.set("effect", check.effect);
        if (!check.remedy.empty()) one.set("remedy", check.remedy);
        document.append(std::move(one));
    }
    LAVANT_TRY_VOID(
        print(document, output, context.console, [&] { return rendered(checks, context.console); }));
    const auto bad = std::ranges::count(checks, HostCheck::Mark::Bad, &HostCheck::mark);
    if (bad == 0) return Exit::Completed;
    context.console.err << fmt::format("{} of these {} jobs from running\n", bad,
                                       bad == 1 ? "keeps" : "keep");
    return Exit::Failed;
}

}  // namespace lavant::cli
