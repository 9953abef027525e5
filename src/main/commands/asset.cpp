// `lavant data | model | environment | component …`

#include <CLI/CLI.hpp>

#include "cli/asset_commands.h"
#include "cli/asset_create.h"
#include "main/commands/families.h"
#include "main/commands/file_flags.h"

namespace lavant {
namespace {

using cli::AssetKind;
using cli::Context;
using cli::FileOptions;
using cli::Session;

constexpr FileFlag kNamed[] = {
    {"-n,--name", "name", "what others find it by", "NAME"},
    {"-v,--version", "version", "the next one if left out", "VERSION"},
    {"-d,--description", "description", "what it is", "TEXT"},
    {"--datastore", "datastore", "where a local path is uploaded to", "NAME"},
};
// `-d` is the Dockerfile's there, as in az.
constexpr FileFlag kNamedEnvironment[] = {
    {"-n,--name", "name", "what others find it by", "NAME"},
    {"-v,--version", "version", "the next one if left out", "VERSION"},
    {"--description", "description", "what it is", "TEXT"},
    {"--datastore", "datastore", "where a build context is uploaded to", "NAME"},
    {"-i,--image", "image", "image to start from", "IMAGE"},
    {"-c,--conda-file", "conda_file", "conda file (YAML)", "FILE"},
    {"-b,--build-context", "build.path", "folder of a Dockerfile", "DIR"},
    {"-d,--dockerfile-path", "build.dockerfile_path", "in that folder; Dockerfile if left out", "FILE"},
    {"--os-type", "os_type", "linux or windows", "OS"},
};
constexpr FileFlag kNamedComponent[] = {
    {"-n,--name", "name", "what others find it by", "NAME"},
    {"-v,--version", "version", "the next one if left out", "VERSION"},
    {"--description", "description", "what it does", "TEXT"},
    {"--display-name", "display_name", "name that is shown", "TEXT"},
};
constexpr FileFlag kData[] = {
    {"-p,--path", "path", "local file or folder, or azureml://datastores/...", "PATH"},
    {"-t,--type", "type", "uri_file, uri_folder (if left out) or mltable", "TYPE"},
};
constexpr FileFlag kModel[] = {
    {"-p,--path", "path", "local file or folder, azureml://datastores/... or azureml://jobs/...", "PATH"},
    {"-t,--type", "type", "custom_model (if left out), mlflow_model or triton_model", "TYPE"},
    {"-s,--stage", "stage", "Development, Production, ...", "TEXT"},
};

struct Family {
    AssetKind kind;
    const char* about;
    const char* example;  // of create
    const char* name;     // of one, in examples
};

constexpr Family kFamilies[] = {
    {AssetKind::Data, "data by name and version",
     "lavant data create -f data.yml\nlavant data create --name titanic --path titanic.csv --type uri_file",
     "titanic"},
    {AssetKind::Model, "models by name and version",
     "lavant model create -f model.yml\nlavant model create --name net --path ./net --type mlflow_model",
     "net"},
    {AssetKind::Environment, "environments by name and version",
     "lavant environment create -f env.yml\nlavant environment create --name torch --image python:3.12 "
     "-c conda.yml",
     "torch"},
    {AssetKind::Component, "components by name and version", "lavant component create -f train.yml", "train"},
};

std::string example(const Family& family, const std::string& rest) {
    return std::string("lavant ") + words_of(family.kind).word + " " + rest;
}

void add_create(CommandLine& line, CLI::App& parent, const Family& family) {
    auto& options = line.keep<FileOptions>();
    CLI::App& command =
        CommandLine::add(parent, "create", "register a version, from a file or from flags", family.example);
    add_file(command, options);
    switch (family.kind) {
        case AssetKind::Data:
            add_flags(command, options, kNamed);
            add_flags(command, options, kData);
            break;
        case AssetKind::Model:
            add_flags(command, options, kNamed);
            add_flags(command, options, kModel);
            break;
        case AssetKind::Environment:
            add_flags(command, options, kNamedEnvironment);
            break;
        case AssetKind::Component:
            add_flags(command, options, kNamedComponent);
            break;
    }
    add_changes(line, command, options);
    line.runs(command, [&line, &options, kind = family.kind](Context& context) {
        return cli::create_asset(context, line.choice(), kind, options, line.output());
    });
}

void add_validate(CommandLine& line, CLI::App& parent, const Family& family) {
    auto& options = line.keep<FileOptions>();
    CLI::App& command = CommandLine::add(parent, "validate", "check a file; needs no server",
                                         example(family, "validate -f FILE"));
    add_validated_file(line, command, options);
    line.runs(command, [&line, &options, kind = family.kind](Context& context) {
        return cli::validate_asset(context, kind, options, line.output());
    });
}

// A command on one asset.
using AssetCommand = std::function<cli::Outcome<cli::Exit>(Session&, Context&, const cli::AssetName&)>;
void runs_on_asset(CommandLine& line, CLI::App& command, AssetKind kind, AssetCommand what) {
    struct Options {
        std::string name;
        std::string version;
        std::string label;
    };
    auto& options = line.keep<Options>();
    command.add_option("-n,--name,name", options.name, "NAME, NAME:VERSION or NAME@latest")
        ->required()
        ->option_text("NAME");
    command.add_option("-v,--version", options.version, "which")->option_text("VERSION");
    command.add_option("-l,--label", options.label, "latest")->option_text("LABEL");
    line.add_server(command);
    line.runs(command,
              [&line, &options, kind, what = std::move(what)](Context& context) -> cli::Outcome<cli::Exit> {
                  LAVANT_TRY(const cli::AssetName name,
                             cli::read_asset_name(kind, options.name, options.version, options.label));
                  LAVANT_TRY(Session session, cli::connect(context, line.choice()));
                  return what(session, context, name);
              });
}

void add_looks(CommandLine& line, CLI::App& parent, const Family& family) {
    const AssetKind kind = family.kind;
    CLI::App& show = CommandLine::add(parent, "show", "one version, the newest unless told",
                                      example(family, std::string("show ") + family.name));
    line.add_output(show);
    runs_on_asset(line, show, kind,
                  [&line, kind](Session& session, Context& context, const cli::AssetName& name) {
                      return cli::show_asset(session, context.console, kind, name, line.output());
                  });

    auto& options = line.keep<ListFlags>();
    CLI::App& list =
        CommandLine::add(parent, "list", "names with their latest version, or the versions of one",
                         example(family, std::string("list --name ") + family.name));
    list.add_option("-n,--name", options.name, "the versions of this one")->option_text("NAME");
    add_list_flags(list, options);
    line.add_output(list);
    line.add_server(list);
    line.runs_with_session(list, [&line, &options, kind](Session& session, Context& context) {
        return cli::list_assets(session, context.console, kind, options.read(), line.output());
    });
}

void add_edits(CommandLine& line, CLI::App& parent, const Family& family) {
    const AssetKind kind = family.kind;
    auto& settings = line.keep<std::vector<std::string>>();
    CLI::App& update =
        CommandLine::add(parent, "update", "change description, tags and properties of a version",
                         example(family, std::string("update ") + family.name + " --set tags.team=vision"));
    line.add_settings(update, settings, "description=TEXT, tags.KEY=VALUE, properties.KEY=VALUE");
    line.add_output(update);
    runs_on_asset(line, update, kind,
                  [&line, &settings, kind](Session& session, Context& context, const cli::AssetName& name) {
                      return cli::update_asset(session, context.console, kind, name, settings, line.output());
                  });
    for (const bool archived : {true, false}) {
        const std::string verb = archived ? "archive" : "restore";
        CLI::App& command = CommandLine::add(
            parent, verb,
            archived ? "take it out of lists; whoever names it still finds it" : "list it again",
            example(family, verb + " " + family.name + ":1"));
        runs_on_asset(line, command, kind,
                      [kind, archived](Session& session, Context& context, const cli::AssetName& name) {
                          return cli::archive_asset(session, context.console, kind, name, archived);
                      });
    }
    auto& yes = line.keep<bool>(false);
    CLI::App& remove = CommandLine::add(parent, "delete", "remove a version, or without one all of them",
                                        example(family, std::string("delete ") + family.name + ":1 --yes"));
    remove.add_flag("-y,--yes", yes, "do not ask");
    remove.add_flag("--no-wait")->group("");
    runs_on_asset(line, remove, kind,
                  [&yes, kind](Session& session, Context& context, const cli::AssetName& name) {
                      return cli::delete_asset(session, context, kind, name, yes);
                  });
}

void add_download(CommandLine& line, CLI::App& parent) {
    auto& folder = line.keep<std::string>();
    CLI::App& command = CommandLine::add(parent, "download", "the files of a model to DIR/NAME",
                                         "lavant model download net:1 --download-path models");
    command.add_option("-p,--download-path", folder, "the current folder if left out")->option_text("DIR");
    runs_on_asset(line, command, AssetKind::Model,
                  [&folder](Session& session, Context& context, const cli::AssetName& name) {
                      return cli::download_model(session, context, name, folder);
                  });
}

}  // namespace

void add_asset_families(CommandLine& line) {
    for (const Family& family : kFamilies) {
        const std::string word = words_of(family.kind).word;
        const std::string_view all = family.example;
        CLI::App& parent = CommandLine::add_family(line.root(), word, family.about,
                                                   std::string(all.substr(0, all.find('\n'))));
        add_create(line, parent, family);
        add_validate(line, parent, family);
        add_looks(line, parent, family);
        add_edits(line, parent, family);
        if (family.kind == AssetKind::Model) add_download(line, parent);
    }
}

}  // namespace lavant
