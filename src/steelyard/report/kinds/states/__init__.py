"""From where on the iterations of executions can be measured."""
