// `lavant job …`

#include <CLI/CLI.hpp>

#include "cli/job_commands.h"
#include "cli/job_create.h"
#include "cli/job_download.h"
#include "main/commands/families.h"

namespace lavant {
namespace {

using cli::Context;
using cli::Session;

void add_name(CLI::App& command, std::string& into) {
    command.add_option("-n,--name,name", into, "name of the job; its beginning will do, or @last")
        ->required()
        ->option_text("NAME");
}

void add_file(CLI::App& command, std::string& file, std::vector<std::string>& settings) {
    command.add_option("-f,--file,file", file, "job file (YAML); - reads standard input")
        ->required()
        ->option_text("FILE");
    command.add_option("--set", settings, "change a value of the file: --set resources.instance_count=2")
        ->option_text("A.B=C")
        ->allow_extra_args(false)
        ->take_all();
}

void add_create(CommandLine& line, CLI::App& job) {
    auto& options = line.keep<cli::CreateOptions>();
    CLI::App& command =
        CommandLine::add(job, "create", "submit a job file", "lavant job create -f job.yml --stream");
    add_file(command, options.file, options.settings);
    command.add_option("-n,--name", options.name, "name of the job; made up if left out")
        ->option_text("NAME");
    command.add_flag("-s,--stream", options.stream, "print the log until the job has ended");
    line.add_output(command);
    line.add_server(command);
    line.runs(command, [&line, &options](Context& context) {
        return cli::create_job(context, line.choice(), options, line.output());
    });
}

void add_validate(CommandLine& line, CLI::App& job) {
    struct Options : cli::ValidateOptions {
        std::string target;
    };
    auto& options = line.keep<Options>();
    CLI::App& command = CommandLine::add(job, "validate", "check a job file; needs no server",
                                         "lavant job validate -f job.yml --target azure");
    add_file(command, options.file, options.settings);
    command.add_option("--target", options.target, "azure: list what Azure would refuse or ignore")
        ->check(CLI::IsMember({"azure", "lavant"}).description(""))
        ->option_text("TARGET");
    line.add_output(command);
    line.runs(command, [&line, &options](Context& context) {
        options.for_azure = options.target == "azure";
        return cli::validate_job(context, options, line.output());
    });
}

void add_show(CommandLine& line, CLI::App& job) {
    auto& name = line.keep<std::string>();
    CLI::App& command =
        CommandLine::add(job, "show", "what the server knows about a job", "lavant job show @last");
    add_name(command, name);
    line.add_output(command);
    line.add_server(command);
    line.runs_with_session(command, [&line, &name](Session& session, Context& context) {
        return cli::show_job(session, context.console, name, line.output());
    });
}

void add_list(CommandLine& line, CLI::App& job) {
    auto& options = line.keep<cli::ListOptions>();
    CLI::App& command =
        CommandLine::add(job, "list", "jobs, newest first", "lavant job list --status Failed -r 10");
    command.add_option("-r,--max-results", options.max, "at most so many")
        ->check(CLI::Range(1, 100'000).description(""))
        ->option_text("N");
    command.add_option("--status", options.status, "only those with this status")->option_text("STATUS");
    command.add_option("--experiment", options.experiment, "only those of this experiment")
        ->option_text("NAME");
    command.add_option("--tag", options.tag, "only those with this tag")->option_text("KEY[=VALUE]");
    command.add_flag("--archived-only", options.archived, "only archived jobs");
    command.add_flag("--include-archived", options.all, "archived jobs too");
    line.add_output(command);
    line.add_server(command);
    line.runs_with_session(command, [&line, &options](Session& session, Context& context) {
        return cli::list_jobs(session, context.console, options, line.output());
    });
}

void add_stream(CommandLine& line, CLI::App& job) {
    auto& name = line.keep<std::string>();
    CLI::App& command =
        CommandLine::add(job, "stream", "print the log until the job has ended", "lavant job stream @last");
    add_name(command, name);
    line.add_server(command);
    line.runs_with_session(command, [&name](Session& session, Context& context) {
        return cli::stream_job(session, context.console, name);
    });
}

void add_cancel(CommandLine& line, CLI::App& job) {
    auto& name = line.keep<std::string>();
    CLI::App& command = CommandLine::add(job, "cancel", "stop a job", "lavant job cancel @last");
    add_name(command, name);
    line.add_server(command);
    line.runs_with_session(command, [&name](Session& session, Context& context) {
        return cli::cancel_job(session, context.console, name);
    });
}

void add_download(CommandLine& line, CLI::App& job) {
    auto& options = line.keep<cli::DownloadOptions>();
    CLI::App& command = CommandLine::add(job, "download", "fetch logs and outputs of an ended job",
                                         "lavant job download @last --all -p results");
    add_name(command, options.name);
    command.add_option("-p,--download-path", options.folder, "where to; ./NAME if left out")
        ->option_text("DIR");
    command.add_option("--output-name", options.output_name, "only this named output")->option_text("OUTPUT");
    command.add_flag("--all", options.all, "named outputs too");
    line.add_server(command);
    line.runs_with_session(command, [&options](Session& session, Context& context) {
        return cli::download_job(session, context.console, options);
    });
}

}  // namespace

void add_job_family(CommandLine& line) {
    CLI::App& job = CommandLine::add_family(line.root(), "job", "run and follow jobs");
    add_create(line, job);
    add_validate(line, job);
    add_show(line, job);
    add_list(line, job);
    add_stream(line, job);
    add_cancel(line, job);
    add_download(line, job);
}

}  // namespace lavant
