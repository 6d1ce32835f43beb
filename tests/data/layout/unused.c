/* No one needs it, so no linker takes it out of the archive. */
int unused(void) {
    return 1;
}
