// The least that a program can do: what the start of a command is compared with.
int main() { return 0; }
