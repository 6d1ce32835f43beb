import java.nio.file.Path;

/** What the harness repeats. Every iteration does the same work and so has the same checksum. */
public interface Workload {
    /**
     * Reads the input and makes what all iterations share. Not timed.
     *
     * @param input the file that the recipe names
     * @param scale how much work an iteration does
     */
    void prepare(Path input, int scale) throws Exception;

    /** One iteration. What it computed goes into the checksum. */
    void iterate(Checksum checksum) throws Exception;
}
