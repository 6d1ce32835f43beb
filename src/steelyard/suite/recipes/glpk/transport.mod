/* Goods from plants to markets, by way of depots: whatever is made is sent on, as cheaply as can be. */
param places, integer, > 0;
set P := 1 .. places;
param first{P, P} >= 0;
param second{P, P} >= 0;
param supply{P} >= 0;
param demand{P} >= 0;

var inbound{P, P} >= 0;
var outbound{P, P} >= 0;

minimize cost:
    sum{i in P, j in P} (first[i, j] * inbound[i, j] + second[i, j] * outbound[i, j]);

subject to made{i in P}: sum{j in P} inbound[i, j] <= supply[i];
subject to kept{j in P}: sum{i in P} inbound[i, j] = sum{k in P} outbound[j, k];
subject to wanted{k in P}: sum{j in P} outbound[j, k] >= demand[k];
subject to roads{i in P, j in P: (i + j) mod 5 = 0}: inbound[i, j] + outbound[i, j] <= 60;

end;
