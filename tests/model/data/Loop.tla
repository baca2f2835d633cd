-------------------------------- MODULE Loop --------------------------------
(* One variable that runs 0, 1, 2, 1, 2, ...: a lasso, and a module       *)
(* without processes.                                                     *)
EXTENDS Integers
VARIABLE x
Init == x = 0
Next == x' = IF x = 2 THEN 1 ELSE x + 1
Spec == Init /\ [][Next]_x /\ WF_x(Next)
Returns == []<>(x = 0)
=============================================================================
