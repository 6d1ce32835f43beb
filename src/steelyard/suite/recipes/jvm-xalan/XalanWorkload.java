import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.xml.transform.Templates;
import javax.xml.transform.stream.StreamResult;
import javax.xml.transform.stream.StreamSource;
import org.apache.xalan.processor.TransformerFactoryImpl;

/** Transforms a document to HTML by a style sheet, SCALE times. */
public final class XalanWorkload implements Workload {
    private byte[] document;
    private Templates sheet;
    private int scale;

    @Override
    public void prepare(Path input, int scale) throws Exception {
        document = Files.readAllBytes(input);
        try (InputStream source = XalanWorkload.class.getResourceAsStream("items.xsl")) {
            sheet = new TransformerFactoryImpl().newTemplates(new StreamSource(source));
        }
        this.scale = scale;
    }

    @Override
    public void iterate(Checksum checksum) throws Exception {
        for (int i = 0; i < scale; i++) {
            ByteArrayOutputStream page = new ByteArrayOutputStream();
            sheet.newTransformer()
                    .transform(
                            new StreamSource(new ByteArrayInputStream(document)),
                            new StreamResult(page));
            checksum.add(page.toByteArray(), page.size());
        }
    }
}
