// Runs a fuzz target over the files of a folder, for machines without libFuzzer and as a plain
// test.
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count);

static int replay_file(const char *folder, const char *name)
{
    static uint8_t bytes[1 << 20];
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        return -1;
    }
    size_t count = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    return LLVMFuzzerTestOneInput(bytes, count);
}

int main(int argc, char **argv)
{
    int files = 0;
    DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;
    if (folder == NULL) {
        fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
        return 1;
    }
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        if (replay_file(argv[1], entry->d_name) != 0)
            return 1;
        files++;
    }
    closedir(folder);
    printf("%d inputs\n", files);
    return files > 0 ? 0 : 1;
}
