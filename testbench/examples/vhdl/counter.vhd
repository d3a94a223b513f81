-- Counts what is enabled, from 0 to LIMIT and round again.
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;

entity counter is
  generic (LIMIT : natural := 9);
  port (
    clk, rst, en : in  std_logic;
    q            : out std_logic_vector(7 downto 0);
    wrap         : out std_logic
  );
end entity;

architecture rtl of counter is
  signal n : unsigned(7 downto 0);
begin
  q    <= std_logic_vector(n);
  wrap <= '1' when en = '1' and n = LIMIT else '0';

  process (clk) begin
    if rising_edge(clk) then
      if rst = '1' or (en = '1' and n = LIMIT) then
        n <= (others => '0');
      elsif en = '1' then
        n <= n + 1;
      end if;
    end if;
  end process;
end architecture;
