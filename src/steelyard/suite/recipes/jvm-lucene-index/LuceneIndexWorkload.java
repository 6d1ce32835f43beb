import java.nio.file.Path;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.Terms;
import org.apache.lucene.index.TermsEnum;
import org.apache.lucene.store.Directory;

/** Indexes the first SCALE documents, then walks all terms of the index. */
public final class LuceneIndexWorkload implements Workload {
    private Corpus corpus;

    @Override
    public void prepare(Path input, int scale) throws Exception {
        corpus = new Corpus(input, scale);
    }

    @Override
    public void iterate(Checksum checksum) throws Exception {
        try (Directory directory = corpus.index();
                DirectoryReader reader = DirectoryReader.open(directory)) {
            LeafReader leaf = reader.leaves().get(0).reader();
            checksum.add(leaf.numDocs());
            Terms terms = leaf.terms("text");
            checksum.add(terms.getSumTotalTermFreq());
            TermsEnum walk = terms.iterator();
            while (walk.next() != null) {
                checksum.add(walk.term().utf8ToString());
                checksum.add(walk.docFreq());
                checksum.add(walk.totalTermFreq());
            }
        }
    }
}
