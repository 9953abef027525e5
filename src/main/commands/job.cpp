// `lavant job …`

#include <CLI/CLI.hpp>

#include "cli/job_commands.h"
#include "cli/job_create.h"
#include "cli/job_download.h"
#include "cli/job_edit.h"
#include "cli/job_reference.h"
#include "cli/job_stream.h"
#include "main/commands/families.h"
#include "main/commands/file_flags.h"

namespace lavant {
namespace {

using cli::Context;
using cli::Session;

void add_name(CLI::App& command, std::string& into) {
    command.add_option("-n,--name,name", into, "name of the job, or @last; mostly its beginning will do")
        ->required()
        ->option_text("NAME");
}

// A command on one job: connected first, then the name made whole.
using JobCommand = std::function<cli::Outcome<cli::Exit>(Session&, Context&, const std::string& name)>;
void runs_on_job(CommandLine& line, CLI::App& command, JobCommand what,
                 cli::Match match = cli::Match::ByBeginning) {
    if (line.manner() == Manner::Az) match = cli::Match::Exactly;
    auto& given = line.keep<std::string>();
    add_name(command, given);
    line.add_server(command);
    line.runs_with_session(command,
                           [&given, match, what = std::move(what)](
                               Session& session, Context& context) -> cli::Outcome<cli::Exit> {
                               LAVANT_TRY(const std::string name, cli::resolve_job(session, given, match));
                               return what(session, context, name);
                           });
}

void add_file(CommandLine& line, CLI::App& command, std::string& file, std::vector<std::string>& settings) {
    command.add_option("-f,--file,file", file, "job file (YAML); - reads standard input")
        ->required()
        ->option_text("FILE");
    line.add_settings(command, settings, "change a value of the file: --set resources.instance_count=2");
}

void add_create(CommandLine& line, CLI::App& job) {
    auto& options = line.keep<cli::CreateOptions>();
    CLI::App& command =
        CommandLine::add(job, "create", "submit a job file", "lavant job create -f job.yml --stream");
    add_file(line, command, options.file, options.settings);
    command.add_flag("--dry-run", options.dry_run, "check it and print what would be sent");
    line.add_submit_options(command, options);
    line.runs(command, [&line, &options](Context& context) {
        return cli::create_job(context, line.choice(), options, line.output());
    });
}

void add_rerun(CommandLine& line, CLI::App& job) {
    auto& options = line.keep<cli::RerunOptions>();
    CLI::App& command = CommandLine::add(job, "rerun", "submit the same job once more, under a new name",
                                         "lavant job rerun @last --set inputs.lr=0.2 --stream");
    command.add_option("job", options.of, "the job; its beginning will do, or @last")
        ->required()
        ->option_text("NAME");
    line.add_settings(command, options.settings, "change a value: --set inputs.lr=0.2");
    line.add_submit_options(command, options);
    line.runs_with_session(
        command, [&line, &options](Session& session, Context& context) -> cli::Outcome<cli::Exit> {
            LAVANT_TRY(options.of, cli::resolve_job(session, options.of, cli::Match::ByBeginning));
            return cli::rerun_job(session, context, options, line.output());
        });
}

void add_validate(CommandLine& line, CLI::App& job) {
    auto& options = line.keep<cli::ValidateOptions>();
    CLI::App& command = CommandLine::add(job, "validate", "check a job file; needs no server",
                                         "lavant job validate -f job.yml --target azure");
    add_file(line, command, options.file, options.settings);
    add_target(command, options.for_azure);
    line.add_output(command);
    line.runs(command, [&line, &options](Context& context) {
        return cli::validate_job(context, options, line.output());
    });
}

void add_show(CommandLine& line, CLI::App& job) {
    auto& web = line.keep<bool>();
    CLI::App& command =
        CommandLine::add(job, "show", "what the server knows about a job", "lavant job show @last");
    command.add_flag("-e,--web", web, "say where the studio shows it");
    line.add_output(command);
    runs_on_job(line, command, [&line, &web](Session& session, Context& context, const std::string& name) {
        return cli::show_job(session, context.console, name, line.output(), web);
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
    command.add_flag("--all-results", options.whole, "all there are");
    command.add_option("-p,--parent-job-name", options.parent, "only the children of this job")
        ->option_text("NAME");
    command.add_flag("--archived-only", options.archived, "only archived jobs");
    command.add_flag("--include-archived", options.all, "archived jobs too");
    line.add_output(command);
    line.add_server(command);
    line.runs_with_session(command, [&line, &options](Session& session, Context& context) {
        if (options.whole) options.max = cli::kListMax;
        return cli::list_jobs(session, context.console, options, line.output());
    });
}

void add_stream(CommandLine& line, CLI::App& job) {
    CLI::App& command =
        CommandLine::add(job, "stream", "print the log until the job has ended", "lavant job stream @last");
    runs_on_job(line, command, [](Session& session, Context& context, const std::string& name) {
        return cli::stream_job(session, context, name);
    });
}

void add_cancel(CommandLine& line, CLI::App& job) {
    auto& no_wait = line.keep<bool>();
    CLI::App& command = CommandLine::add(job, "cancel", "stop a job", "lavant job cancel @last");
    command.add_flag("--no-wait", no_wait, "do not wait until it has ended");
    line.add_output(command);
    runs_on_job(line, command,
                [&line, &no_wait](Session& session, Context& context, const std::string& name) {
                    return cli::cancel_job(session, context.console, name, no_wait, line.output());
                });
}

void add_explain(CommandLine& line, CLI::App& job) {
    CLI::App& command = CommandLine::add(job, "explain", "what a job waits for, and what would help",
                                         "lavant job explain @last");
    line.add_output(command);
    runs_on_job(line, command, [&line](Session& session, Context& context, const std::string& name) {
        return cli::explain_job(session, context.console, name, line.output());
    });
}

void add_edits(CommandLine& line, CLI::App& job) {
    auto& settings = line.keep<std::vector<std::string>>();
    CLI::App& update =
        CommandLine::add(job, "update", "change a job's display name, description, tags or properties",
                         "lavant job update @last --set tags.team=vision");
    line.add_settings(update, settings, "display_name, description, tags.KEY or properties.KEY")->required();
    line.add_output(update);
    runs_on_job(line, update,
                [&line, &settings](Session& session, Context& context, const std::string& name) {
                    return cli::update_job(session, context.console, name, settings, line.output());
                });

    CLI::App& archive =
        CommandLine::add(job, "archive", "leave a job out of lists", "lavant job archive old_job");
    runs_on_job(line, archive, [](Session& session, Context& context, const std::string& name) {
        return cli::archive_job(session, context.console, name, true);
    });
    CLI::App& restore =
        CommandLine::add(job, "restore", "list an archived job again", "lavant job restore old_job");
    runs_on_job(line, restore, [](Session& session, Context& context, const std::string& name) {
        return cli::archive_job(session, context.console, name, false);
    });

    auto& yes = line.keep<bool>();
    CLI::App& remove = CommandLine::add(job, "delete", "remove an ended job with its logs and outputs",
                                        "lavant job delete old_job --yes");
    remove.add_flag("-y,--yes", yes, "do not ask");
    runs_on_job(
        line, remove,
        [&yes](Session& session, Context& context, const std::string& name) {
            return cli::delete_job(session, context, name, yes);
        },
        cli::Match::Exactly);
}

void add_download(CommandLine& line, CLI::App& job) {
    auto& options = line.keep<cli::DownloadOptions>();
    CLI::App& command = CommandLine::add(job, "download", "fetch logs and outputs of an ended job",
                                         "lavant job download @last --all -p results");
    command.add_option("-p,--download-path", options.folder, "where to; ./NAME if left out")
        ->option_text("DIR");
    command.add_option("--output-name", options.output_name, "only this named output")->option_text("OUTPUT");
    command.add_flag("--all", options.all, "named outputs too");
    const bool az = line.manner() == Manner::Az;
    runs_on_job(line, command, [&options, az](Session& session, Context& context, const std::string& name) {
        options.name = name;
        if (options.folder.empty() && az) options.folder = ".";  // as there
        return cli::download_job(session, context, options);
    });
}

}  // namespace

void add_job_family(CommandLine& line) {
    CLI::App& job = CommandLine::add_family(line.root(), "job", "run and follow jobs",
                                            "lavant job create -f job.yml --stream");
    add_create(line, job);
    add_validate(line, job);
    add_show(line, job);
    add_list(line, job);
    add_stream(line, job);
    add_explain(line, job);
    add_cancel(line, job);
    add_rerun(line, job);
    add_download(line, job);
    add_edits(line, job);
}

}  // namespace lavant
