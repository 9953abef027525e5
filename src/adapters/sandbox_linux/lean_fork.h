#pragma once
// Makes forks of the agent cheap. A supervisor uses neither the agent's heap nor most of its libraries; without
// them a fork copies a quarter of the mappings and pages, and the agent meets no copy-on-write faults after it.

#include <utility>
#include <vector>

namespace lavant::sandbox_linux {

class LeanFork {
 public:
    // Leaves libraries other than the C and C++ ones out of later forks. Does nothing unless the program was linked
    // to bind all functions at its start: a fork could not look up any later. Undone by undo().
    void leave_out_libraries();
    void undo();
    bool active() const { return !left_out_.empty(); }

    // Around one fork whose child does not allocate.
    class WithoutHeap {
     public:
        explicit WithoutHeap(const LeanFork& lean);
        ~WithoutHeap();
        WithoutHeap(const WithoutHeap&) = delete;
        WithoutHeap& operator=(const WithoutHeap&) = delete;

     private:
        char* begin_ = nullptr;
        unsigned long bytes_ = 0;
    };

 private:
    std::vector<std::pair<char*, unsigned long>> left_out_;
    char* heap_ = nullptr;
};

}  // namespace lavant::sandbox_linux
