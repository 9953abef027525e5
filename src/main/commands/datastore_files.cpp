// `lavant datastore ls|upload|download`

#include <CLI/CLI.hpp>

#include "cli/datastore_files.h"
#include "main/commands/families.h"

namespace lavant {
namespace {

using cli::Context;
using cli::Session;

void add_name(CLI::App& command, std::string& name) {
    command.add_option("-n,--name,name", name, "name of the datastore")->required()->option_text("NAME");
}

void add_parallel(CLI::App& command, int& parallel) {
    command.add_option("--parallel", parallel, "how many files at once; 8 if left out")
        ->check(CLI::Range(1, 64))
        ->option_text("N");
}

}  // namespace

void add_datastore_files(CommandLine& line, CLI::App& datastore) {
    auto& listing = line.keep<cli::StoreListing>();
    CLI::App& list = CommandLine::add(datastore, "ls", "files of a datastore, with their sizes",
                                      "lavant datastore ls workspaceblobstore LocalUpload/");
    add_name(list, listing.datastore);
    list.add_option("path", listing.path, "a folder or a file in it")->option_text("PATH");
    list.add_flag("-r,--recursive", listing.recursive, "also what is in its folders");
    line.add_output(list);
    line.add_server(list);
    line.runs_with_session(list, [&line, &listing](Session& session, Context& context) {
        return cli::list_store_files(session, context.console, listing, line.output());
    });

    auto& up = line.keep<cli::StoreTransfer>();
    CLI::App& upload =
        CommandLine::add(datastore, "upload", "a file or a folder; what is there already is not sent again",
                         "lavant datastore upload team ./images datasets/images");
    add_name(upload, up.datastore);
    upload.add_option("local", up.local, "a file or a folder")->required()->option_text("LOCAL");
    upload.add_option("path", up.path, "where it goes; its own name if left out")->option_text("PATH");
    add_parallel(upload, up.parallel);
    line.add_server(upload);
    line.runs_with_session(upload, [&up](Session& session, Context& context) {
        return cli::upload_to_store(session, context, up);
    });

    auto& down = line.keep<cli::StoreTransfer>();
    down.local = ".";
    CLI::App& download = CommandLine::add(datastore, "download",
                                          "a file or a folder; what is here already is not fetched again",
                                          "lavant datastore download team datasets/images ./images");
    add_name(download, down.datastore);
    download.add_option("path", down.path, "a folder or a file in it")->required()->option_text("PATH");
    download.add_option("local", down.local, "the folder it goes to; this one if left out")
        ->option_text("FOLDER");
    add_parallel(download, down.parallel);
    line.add_server(download);
    line.runs_with_session(download, [&down](Session& session, Context& context) {
        return cli::download_from_store(session, context, down);
    });
}

}  // namespace lavant
