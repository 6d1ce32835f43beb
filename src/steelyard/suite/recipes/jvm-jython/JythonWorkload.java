import java.nio.file.Path;
import java.util.Properties;
import org.python.core.PyInteger;
import org.python.core.PyObject;
import org.python.util.PythonInterpreter;

/** Calls the function {@code run} of a Python program, which gives a text. */
public final class JythonWorkload implements Workload {
    private PyObject run;
    private PyObject scale;

    @Override
    public void prepare(Path input, int scale) {
        Properties properties = new Properties();
        properties.setProperty("python.cachedir.skip", "true"); // nothing outside of the input
        properties.setProperty("python.import.site", "false");
        PythonInterpreter.initialize(System.getProperties(), properties, new String[] {""});
        PythonInterpreter interpreter = new PythonInterpreter();
        interpreter.execfile(input.toString());
        run = interpreter.get("run");
        this.scale = new PyInteger(scale);
    }

    @Override
    public void iterate(Checksum checksum) {
        checksum.add(run.__call__(scale).toString());
    }
}
