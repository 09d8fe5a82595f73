# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

% Products of whole numbers, which are exact: real, symmetric, triangular and complex.
a = mod(reshape(0:3499, 70, 50) * 7, 11) - 5;
b = mod(reshape(0:2999, 50, 60) * 5, 13) - 6;
d = zeros(70, 60);
for l = 1:50
  d += a(:, l) * b(l, :);
end
s = zeros(50, 50);
for l = 1:70
  s += a(l, :)' * a(l, :);
end
u = triu(ones(50)) + 4 * eye(50);
right = isequal(a * b, d) && isequal(a' * a, s);
right = right && isequal(complex(a, a) * complex(b, -b), complex(2 * d));
right = right && norm(u \ (u * b) - b) < 1e-9;
exit(! right);
