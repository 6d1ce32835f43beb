import java.nio.file.Files;
import java.nio.file.Path;
import net.sourceforge.pmd.PMDConfiguration;
import net.sourceforge.pmd.PmdAnalysis;
import net.sourceforge.pmd.lang.LanguageRegistry;
import net.sourceforge.pmd.lang.document.FileId;
import net.sourceforge.pmd.lang.rule.RuleSet;
import net.sourceforge.pmd.lang.rule.RuleSetLoader;
import net.sourceforge.pmd.reporting.Report;
import net.sourceforge.pmd.reporting.RuleViolation;

/** Checks a Java source SCALE times with some of PMD's rules, in one thread. */
public final class PmdWorkload implements Workload {
    private String source;
    private RuleSet rules;
    private int scale;

    @Override
    public void prepare(Path input, int scale) throws Exception {
        source = Files.readString(input);
        rules = new RuleSetLoader().loadFromResource("rules.xml");
        this.scale = scale;
    }

    @Override
    public void iterate(Checksum checksum) {
        Report report = check();
        if (!report.getProcessingErrors().isEmpty()) {
            throw new IllegalStateException(report.getProcessingErrors().get(0).getMsg());
        }
        for (RuleViolation violation : report.getViolations()) {
            checksum.add(violation.getRule().getName());
            checksum.add(violation.getBeginLine());
            checksum.add(violation.getBeginColumn());
        }
    }

    private Report check() {
        PMDConfiguration configuration = new PMDConfiguration();
        configuration.setThreads(0); // none but this one
        configuration.setIgnoreIncrementalAnalysis(true);
        configuration.setDefaultLanguageVersion(
                LanguageRegistry.PMD.getLanguageById("java").getVersion("17"));
        try (PmdAnalysis analysis = PmdAnalysis.create(configuration)) {
            analysis.addRuleSet(rules);
            for (int i = 0; i < scale; i++) {
                analysis.files().addSourceFile(FileId.fromPathLikeString(i + ".java"), source);
            }
            return analysis.performAnalysisAndCollectReport();
        }
    }
}
