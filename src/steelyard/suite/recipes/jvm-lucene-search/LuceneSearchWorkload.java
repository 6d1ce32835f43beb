import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.analysis.en.EnglishAnalyzer;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.PrefixQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.util.QueryBuilder;

/** Searches an index for words, combinations, phrases and prefixes of SCALE of its documents. */
public final class LuceneSearchWorkload implements Workload {
    private static final int DOCUMENTS = 1000;
    private static final int HITS = 20;
    private static final int PREFIX_LENGTH = 3;
    private static final int FEWEST_WORDS = 5;

    private final List<Query> queries = new ArrayList<>();
    private IndexSearcher searcher;

    @Override
    public void prepare(Path input, int scale) throws Exception {
        Corpus corpus = new Corpus(input, DOCUMENTS);
        searcher = new IndexSearcher(DirectoryReader.open(corpus.index()));
        searcher.setQueryCache(null); // or the second iteration would search nothing
        corpus.documents().stream()
                .map(document -> document.split(" "))
                .filter(words -> words.length >= FEWEST_WORDS)
                .limit(scale)
                .forEach(this::addQueries);
    }

    private void addQueries(String[] words) {
        QueryBuilder builder = new QueryBuilder(new EnglishAnalyzer());
        Query word = builder.createBooleanQuery("text", words[0]);
        Query either = builder.createBooleanQuery("text", words[1] + " " + words[2]);
        if (word != null && either != null) {
            queries.add(word);
            queries.add(either);
            queries.add(
                    new BooleanQuery.Builder()
                            .add(word, BooleanClause.Occur.SHOULD)
                            .add(either, BooleanClause.Occur.MUST)
                            .build());
        }
        Query phrase = builder.createPhraseQuery("text", words[3] + " " + words[4]);
        if (phrase != null) {
            queries.add(phrase);
        }
        String last = words[words.length - 1];
        String prefix = last.substring(0, Math.min(PREFIX_LENGTH, last.length()));
        queries.add(new PrefixQuery(new Term("text", prefix)));
    }

    @Override
    public void iterate(Checksum checksum) throws IOException {
        for (Query query : queries) {
            TopDocs found = searcher.search(query, HITS);
            checksum.add(found.totalHits.value);
            for (ScoreDoc hit : found.scoreDocs) {
                checksum.add(hit.doc);
                checksum.add(Float.floatToIntBits(hit.score));
            }
        }
    }
}
