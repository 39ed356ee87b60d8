#include "app/program.h"

int main(int argc, char** argv) { return reprieve::program(argc, argv); }
