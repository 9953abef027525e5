#include "main/tour.h"

#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/files.h"
#include "base/text.h"
#include "main/throwaway.h"

namespace lavant {
namespace {

using cli::Colour;
using cli::Context;
using cli::Exit;
using cli::Outcome;

struct Step {
    std::string_view says;
    std::string_view file;  // written first, if named
    std::string_view text;
    std::string_view runs;  // by sh
    int exit_expected = 0;
};

constexpr Step kSteps[] = {
    {"A script of yours, run as a job. The folder it is in goes with it; Python is this machine's.",
     "train.py",
     R"(import argparse, time

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.1)
rate = parser.parse_args().lr
loss = 1.0
for epoch in range(3):
    loss *= 1 - rate
    print(f"epoch {epoch}  loss {loss:.3f}", flush=True)
    time.sleep(0.2)
)",
     "lavant submit --stream -- python train.py --lr 0.3"},
    {"The same as a job file of Azure ML, with the values as inputs.", "job.yml",
     R"($schema: https://azuremlschemas.azureedge.net/latest/commandJob.schema.json
display_name: train
command: python train.py --lr ${{inputs.lr}}
code: .
environment: host
inputs:
  lr: 0.5
)",
     "lavant job create -f job.yml --set inputs.lr=0.2 --stream"},
    {"A slip in the file: every problem at once, with its place and the word that was meant.", "slip.yml",
     R"(comand: python train.py
code: .
environment: host
resources:
  instance_typ: Standard_DS3_v2
)",
     "lavant job create -f slip.yml", 2},
    {"A job that fails: the end of its log, and what to do about it.", "", "",
     "lavant submit --stream -- 'echo loading; python -c \"import nosuchmodule\"'", 1},
    {"A size takes what the machine has, and so the second job waits. It says for what.", "", "",
     "lavant submit -n first --size Standard_ND96asr_v4 -o none -- sleep 60\n"
     "lavant submit -n second --size Standard_ND96asr_v4 -o none -- sleep 60\n"
     "until [ \"$(lavant job show first --query status -o tsv)\" = Running ]; do sleep 0.1; done\n"
     "lavant job explain second"},
    {"All of them, newest first. Names need only their beginning; @last is the last one.", "", "",
     "lavant job list\nlavant job show @last --query '{status: status, command: command}'"},
    {"Scripts that say `az ml` run as they are, with: az() { lavant az \"$@\"; }", "", "",
     "lavant az ml job cancel -n first\nlavant az ml job show -n first --query status -o tsv"},
    {"And azure-ai-ml from PyPI finds the server by these variables: eval \"$(lavant env)\"", "", "",
     "lavant env | cut -c 1-79 | head -3"},
};

void show_file(const cli::Console& console, const Step& step) {
    console.out << console.painted(fmt::format("--- {}", step.file), Colour::Dim) << "\n" << step.text;
    console.out << console.painted("---", Colour::Dim) << "\n";
}

}  // namespace

Outcome<Exit> take_tour(Context& context, const TourOptions& options) {
    const cli::Console& console = context.console;
    const bool waits = !options.go_on && context.person.is_there();
    LAVANT_TRY(const Throwaway server, Throwaway::start(context));
    const std::string folder = server.folder() + "/tour";
    LAVANT_TRY_VOID(make_directories(folder, 0755));
    int number = 0;
    for (const Step& step : kSteps) {
        console.out << "\n"
                    << console.painted(fmt::format("{}. {}", ++number, step.says), Colour::Green) << "\n";
        if (!step.file.empty()) {
            show_file(console, step);
            LAVANT_TRY_VOID(write_file_atomically(folder + "/" + std::string(step.file), step.text, 0644));
        }
        for (const std::string_view line : split(step.runs, '\n'))
            console.out << console.painted("$ ", Colour::Dim) << line << "\n";
        console.out.flush();
        if (waits && !context.person.ask("[Enter runs it, Ctrl-D ends the tour] ")) break;
        LAVANT_TRY(const int code, server.run({"/bin/sh", "-c", std::string(step.runs)}, folder));
        if (Throwaway::was_interrupted()) break;
        if (code != step.exit_expected)
            return cli::stop(
                Exit::Failed, ErrorCode::Internal,
                fmt::format("step {} ended with {}, not with {}; what this machine lacks: lavant doctor",
                            number, code, step.exit_expected));
    }
    if (Throwaway::was_interrupted()) return static_cast<Exit>(130);
    console.out << "\n"
                << console.painted("That was it. Nothing of it is left; start with: lavant submit -- COMMAND",
                                   Colour::Green)
                << "\n";
    console.out.flush();
    return Exit::Completed;
}

}  // namespace lavant
