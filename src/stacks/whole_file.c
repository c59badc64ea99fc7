#include "stacks/whole_file.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static enum tlc_status cut_off(const char *path, struct tlc_error *error)
{
    return tlc_fail(error, TLC_ENVIRONMENT,
                    "stack: %s: cut off: shorter than its own headers say; remove it and make it "
                    "again with 'tlscost stacks get'",
                    path);
}

static enum tlc_status no_object(const char *path, struct tlc_error *error)
{
    return tlc_fail(error, TLC_ENVIRONMENT, "stack: %s: not a plug-in: no ELF-64 shared object",
                    path);
}

static enum tlc_status check(FILE *file, uint64_t bytes, const char *path, struct tlc_error *error)
{
    Elf64_Ehdr head;
    if (fread(&head, sizeof head, 1, file) != 1 || memcmp(head.e_ident, ELFMAG, SELFMAG) ||
        head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_type != ET_DYN ||
        head.e_phentsize != sizeof(Elf64_Phdr))
        return no_object(path, error);
    if (head.e_phoff > bytes || fseek(file, (long)head.e_phoff, SEEK_SET))
        return cut_off(path, error);
    for (unsigned i = 0; i < head.e_phnum; i++) {
        Elf64_Phdr part;
        if (fread(&part, sizeof part, 1, file) != 1 || part.p_offset > bytes ||
            part.p_filesz > bytes - part.p_offset)
            return cut_off(path, error);
    }
    return TLC_OK;
}

enum tlc_status tlc_stack_check_whole(const char *path, struct tlc_error *error)
{
    struct stat status;
    if (stat(path, &status))
        return tlc_fail_errno(error, "stack: %s", path);
    FILE *file = S_ISREG(status.st_mode) ? fopen(path, "rbe") : NULL;
    if (!file && S_ISREG(status.st_mode))
        return tlc_fail_errno(error, "stack: %s", path);
    if (!file) // a pipe would be waited for
        return no_object(path, error);
    enum tlc_status whole = check(file, (uint64_t)status.st_size, path, error);
    fclose(file);
    return whole;
}
