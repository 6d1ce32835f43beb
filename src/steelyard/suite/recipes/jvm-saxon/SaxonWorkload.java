import java.io.InputStream;
import java.nio.file.Path;
import net.sf.saxon.s9api.Processor;
import net.sf.saxon.s9api.XQueryExecutable;
import net.sf.saxon.s9api.XQueryEvaluator;
import net.sf.saxon.s9api.XdmItem;
import net.sf.saxon.s9api.XdmNode;

/** Evaluates a query over a document, SCALE times. */
public final class SaxonWorkload implements Workload {
    private XdmNode document;
    private XQueryExecutable query;
    private int scale;

    @Override
    public void prepare(Path input, int scale) throws Exception {
        Processor processor = new Processor(false);
        document = processor.newDocumentBuilder().build(input.toFile());
        try (InputStream text = SaxonWorkload.class.getResourceAsStream("items.xq")) {
            query = processor.newXQueryCompiler().compile(text);
        }
        this.scale = scale;
    }

    @Override
    public void iterate(Checksum checksum) throws Exception {
        for (int i = 0; i < scale; i++) {
            XQueryEvaluator evaluator = query.load();
            evaluator.setContextItem(document);
            for (XdmItem item : evaluator) {
                checksum.add(item.toString());
            }
        }
    }
}
