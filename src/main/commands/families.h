#pragma once
// Every family of commands. Each adds itself to the tree.

#include "main/commands/command_line.h"

namespace lavant {

void add_submit(CommandLine& line);                         // submit
void add_job_family(CommandLine& line);                     // job …
void add_compute_family(CommandLine& line);                 // compute …
void add_server_family(CommandLine& line);                  // up, down, status, env
void add_key_family(CommandLine& line);                     // key …
void add_size_family(CommandLine& line);                    // size …
void add_list_sizes(CommandLine& line, CLI::App& compute);  // compute list-sizes
void add_config_family(CommandLine& line);                  // config …
void add_context_family(CommandLine& line);                 // login, logout, context …
void add_doctor(CommandLine& line);                         // doctor
void add_backup(CommandLine& line);                         // backup, restore
void add_serve(CommandLine& line);                          // serve, agent
void add_sandbox(CommandLine& line);                        // sandbox, tour
void add_az_family(CommandLine& line);                      // what stands around `az ml`
void add_shell_family(CommandLine& line);                   // completion, man, version
void add_quota_family(CommandLine& line);                   // quota …
void add_usage(CommandLine& line);                          // usage
void add_workspace_family(CommandLine& line);               // workspace …
void add_datastore_family(CommandLine& line);               // datastore …

void add_lock_family(CommandLine& line, CLI::App& parent);         // lock …, beside ml in az
void add_list_usage(CommandLine& line, CLI::App& compute);         // compute list-usage
void add_datastore_files(CommandLine& line, CLI::App& datastore);  // datastore ls, upload, download

}  // namespace lavant
