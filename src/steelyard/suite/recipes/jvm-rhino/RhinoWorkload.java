import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import org.mozilla.javascript.Context;
import org.mozilla.javascript.Function;
import org.mozilla.javascript.Scriptable;
import org.mozilla.javascript.ScriptableObject;

/** Calls the function {@code run} of a JavaScript program, which gives a text. */
public final class RhinoWorkload implements Workload {
    private static final int BEST_OPTIMISATION = 9;

    private Context context;
    private Scriptable scope;
    private Function run;
    private Object[] arguments;

    @Override
    public void prepare(Path input, int scale) throws Exception {
        context = Context.enter();
        context.setOptimizationLevel(BEST_OPTIMISATION);
        context.setLanguageVersion(Context.VERSION_ES6);
        scope = context.initStandardObjects();
        try (Reader program = Files.newBufferedReader(input)) {
            context.evaluateReader(scope, program, input.getFileName().toString(), 1, null);
        }
        run = (Function) ScriptableObject.getProperty(scope, "run");
        arguments = new Object[] {scale};
    }

    @Override
    public void iterate(Checksum checksum) {
        checksum.add(Context.toString(run.call(context, scope, scope, arguments)));
    }
}
