import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.en.EnglishAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.SerialMergeScheduler;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.apache.lucene.store.Directory;

/** The first lines of the input as documents, and how they are indexed: one thread, in memory. */
final class Corpus {
    private static final int DOCUMENTS_IN_MEMORY = 200;

    private final List<String> documents;

    Corpus(Path input, int count) throws IOException {
        try (Stream<String> lines = Files.lines(input)) {
            documents =
                    lines.filter(line -> !line.isEmpty())
                            .limit(count)
                            .collect(Collectors.toUnmodifiableList());
        }
        if (documents.size() < count) {
            throw new IllegalArgumentException(
                    input + " has " + documents.size() + " documents, not " + count);
        }
    }

    List<String> documents() {
        return documents;
    }

    Directory index() throws IOException {
        Directory directory = new ByteBuffersDirectory();
        try (Analyzer analyzer = new EnglishAnalyzer();
                IndexWriter writer = new IndexWriter(directory, config(analyzer))) {
            for (int i = 0; i < documents.size(); i++) {
                writer.addDocument(document(i));
            }
            writer.forceMerge(1);
        }
        return directory;
    }

    private static IndexWriterConfig config(Analyzer analyzer) {
        return new IndexWriterConfig(analyzer)
                .setMergeScheduler(new SerialMergeScheduler())
                .setMaxBufferedDocs(DOCUMENTS_IN_MEMORY)
                .setRAMBufferSizeMB(IndexWriterConfig.DISABLE_AUTO_FLUSH);
    }

    private Document document(int number) {
        Document document = new Document();
        document.add(new StringField("id", Integer.toString(number), Field.Store.YES));
        document.add(new NumericDocValuesField("number", number));
        document.add(new TextField("text", documents.get(number), Field.Store.YES));
        return document;
    }
}
