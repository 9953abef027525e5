// `lavant submit`

#include "cli/submit.h"

#include <CLI/CLI.hpp>

#include "main/commands/families.h"

namespace lavant {

using cli::Context;

void add_submit(CommandLine& line) {
    auto& job = line.keep<cli::QuickJob>();
    CLI::App& command = CommandLine::add(line.root(), "submit", "run a command as a job; needs no job file",
                                         "lavant submit --stream -- python train.py --lr 0.1\n"
                                         "lavant submit --save-as job.yml -- python train.py");
    CommandLine::takes_command(command);
    command.add_option("--code", job.code, "folder that travels with the job; . if left out, or none")
        ->option_text("DIR");
    command
        .add_option(
            "--env", job.environment,
            "host (this machine's Python, the default), azureml:NAME:VERSION, an environment file or a "
            "conda file")
        ->option_text("ENV");
    command.add_option("--compute", job.compute, "where to run; serverless if left out")->option_text("NAME");
    command.add_option("--size", job.size, "size of a node, like Standard_DS3_v2")->option_text("SIZE");
    command.add_option("--instances", job.instances, "on so many nodes")
        ->check(CLI::Range(1, 10'000).description(""))
        ->option_text("N");
    command.add_option("--timeout", job.timeout_s, "end the job after so many seconds")
        ->check(CLI::Range(1, 100'000'000).description(""))
        ->option_text("SECONDS");
    command.add_option("--env-var", job.variables, "set an environment variable")
        ->allow_extra_args(false)
        ->take_all()
        ->option_text("KEY=VALUE");
    command.add_option("--tag", job.tags, "tag the job")
        ->allow_extra_args(false)
        ->take_all()
        ->option_text("KEY=VALUE");
    command.add_option("--display-name", job.display_name, "what people call it")->option_text("TEXT");
    command.add_option("--experiment-name", job.experiment, "the experiment it belongs to")
        ->option_text("NAME");
    line.add_submit_options(command, job);
    line.runs(command, [&line, &job](Context& context) {
        job.words = line.trailing();
        return cli::submit_command(context, line.choice(), job, line.output());
    });
}

}  // namespace lavant
